"""Runs in other programs' formats: CTranslate2, Hugging Face and ONNX out, Hugging Face in."""

// The views, in the order of the list.

import beam from "jumok/views/beam.js";
import heads from "jumok/views/heads.js";
import lanes from "jumok/views/lanes.js";
import loss from "jumok/views/loss.js";
import map from "jumok/views/map.js";
import masks from "jumok/views/masks.js";
import one from "jumok/views/one.js";
import positions from "jumok/views/positions.js";
import stream from "jumok/views/stream.js";
import tokens from "jumok/views/tokens.js";
import training from "jumok/views/training.js";
import translate from "jumok/views/translate.js";

export const views = [translate, map, tokens, positions, one, masks, heads, lanes, loss, beam, stream, training];

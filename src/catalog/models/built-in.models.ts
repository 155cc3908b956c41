import type { ModelRow } from '../model-row.js';
import { AUDIO_MODELS } from './audio.models.js';
import { CHAT_MODELS } from './chat.models.js';
import { IMAGE_MODELS } from './image.models.js';
import { SONG_MODELS } from './song.models.js';
import { TUNE_MODELS } from './tune.models.js';
import { VIDEO_MODELS } from './video.models.js';

/** Every model that is built in, in the order of lists. */
export const BUILT_IN_MODELS: readonly ModelRow[] = [
  ...CHAT_MODELS,
  ...IMAGE_MODELS,
  ...VIDEO_MODELS,
  ...AUDIO_MODELS,
  ...SONG_MODELS,
  ...TUNE_MODELS,
];

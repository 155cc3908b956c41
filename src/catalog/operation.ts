import type { Operation } from '../providers/ports/provider-ports.js';

/** What a model does; each operation has one endpoint. */
export const ENDPOINT_TYPES = {
  chat: 'chat-completions',
  image: 'image-generation',
  video: 'compat-video',
  speech: 'audio-speech',
  dialogue: 'audio-dialogue',
  transcription: 'audio-transcription',
  alignment: 'audio-alignment',
  'voice-change': 'audio-voice-changer',
  isolation: 'audio-isolation',
  'sound-effect': 'audio-sound-effects',
  composition: 'audio-music',
  dubbing: 'audio-dubbing',
  song: 'music-generation',
} as const satisfies Record<Operation, string>;

/** A word of `supported_endpoint_types` (API: GET /v1/models; decision G-90). */
export type EndpointType = (typeof ENDPOINT_TYPES)[Operation];

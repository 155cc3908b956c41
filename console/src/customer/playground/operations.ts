/** An operation that makes something: what models of it are called, and where it is. */
export interface PaidOperation {
  /** One of `supported_endpoint_types` of a model. */
  readonly type: string;
  readonly path: string;
  readonly name: string;
}

/** Every paid operation, in the order in which they are offered: those of src/catalog/operations.ts. */
export const PAID_OPERATIONS: readonly PaidOperation[] = [
  { type: 'chat-completions', path: '/v1/chat/completions', name: 'Chat' },
  { type: 'responses', path: '/v1/responses', name: 'Responses' },
  { type: 'messages', path: '/v1/messages', name: 'Messages' },
  { type: 'embeddings', path: '/v1/embeddings', name: 'Embeddings' },
  { type: 'image-generation', path: '/v1/images/generations', name: 'Images' },
  { type: 'image-edits', path: '/v1/images/edits', name: 'Image edits' },
  { type: 'audio-speech', path: '/v1/audio/speech', name: 'Speech' },
  { type: 'audio-dialogue', path: '/v1/audio/dialogue', name: 'Dialogue' },
  { type: 'audio-transcription', path: '/v1/audio/transcriptions', name: 'Transcription' },
  { type: 'audio-alignment', path: '/v1/audio/alignment', name: 'Alignment' },
  { type: 'audio-voice-changer', path: '/v1/audio/voice-changer', name: 'Voice changer' },
  { type: 'audio-isolation', path: '/v1/audio/isolation', name: 'Isolation' },
  { type: 'audio-sound-effects', path: '/v1/audio/sound-effects', name: 'Sound effects' },
  { type: 'audio-music', path: '/v1/audio/music', name: 'Music' },
  { type: 'audio-dubbing', path: '/v1/audio/dubbing', name: 'Dubbing' },
  { type: 'music-generation', path: '/v1/music/generations', name: 'Songs' },
  { type: 'compat-video', path: '/v1/videos', name: 'Video' },
];

import type { MediaFormat } from './duration/sniff.js';

/** Media type of each format, as it is sent to providers. */
export const CONTENT_TYPES: Readonly<Record<MediaFormat, string>> = {
  wav: 'audio/wav',
  aiff: 'audio/aiff',
  mp3: 'audio/mpeg',
  aac: 'audio/aac',
  mp4: 'video/mp4',
  m4a: 'audio/mp4',
  mov: 'video/quicktime',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  webm: 'video/webm',
};

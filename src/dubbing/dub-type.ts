/** Endings of the types dubs come in. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/aac': 'aac',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
};
const MEDIA_TYPE = /^(audio|video)\/[\w.+-]+$/;

/**
 * The type a dub is served with: as it came, else as the provider announced it, else MP3, which is what it makes of sound.
 * Only audio and video count.
 */
export function dubTypeOf(declared: string | null, announced: string | null): string {
  for (const text of [declared, announced]) {
    const type = text?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (MEDIA_TYPE.test(type)) return type;
  }
  return 'audio/mpeg';
}

/** Name under which a dub is downloaded: `dubbed-<target language>.<ext>` (spec: GET /v1/tasks/{id}/content). */
export function dubFilename(targetLanguage: string, type: string): string {
  const extension = EXTENSIONS[type] ?? type.split('/')[1]?.replace(/^x-|\W/g, '') ?? 'bin';
  return `dubbed-${targetLanguage}.${extension}`;
}

/** File name endings of the types of dubs. */
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
 * The type of a dub when it is served: the type of the download, else the type that the provider announced, else MP3.
 * Only audio and video types are accepted.
 */
export function dubTypeOf(declared: string | null, announced: string | null): string {
  for (const text of [declared, announced]) {
    const type = text?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (MEDIA_TYPE.test(type)) return type;
  }
  return 'audio/mpeg';
}

/** Name of a dub for downloads: `dubbed-<target language>.<ext>` (API: GET /v1/tasks/{id}/content). */
export function dubFilename(targetLanguage: string, type: string): string {
  const extension = EXTENSIONS[type] ?? type.split('/')[1]?.replace(/^x-|\W/g, '') ?? 'bin';
  return `dubbed-${targetLanguage}.${extension}`;
}

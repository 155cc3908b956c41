import { readAdtsFrame } from './codec/aac-config.js';
import type { ReadFrameHeader } from './frame-walk.js';
import { isLayer3, readMpegFrame } from './codec/mpeg-frame.js';

/** The containers and raw streams that the gateway knows by their content. */
export type MediaFormat =
  'wav' | 'aiff' | 'mp3' | 'aac' | 'mp4' | 'm4a' | 'mov' | 'flac' | 'ogg' | 'webm';

const ID3_HEADER_BYTES = 10;
const EBML_HEAD_BYTES = 64;
const QUICKTIME_BOXES = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
const FORMAT_OF_BRAND = new Map<string, MediaFormat>([
  ['qt  ', 'mov'],
  ['M4A ', 'm4a'],
  ['M4B ', 'm4a'],
]);
const AIFF_KINDS = new Set(['AIFF', 'AIFC']);
/** Id of the element of an EBML head that names the document type. */
const DOC_TYPE = '\x42\x82';
/** Id of the chunk that holds the tag of an AIFF or WAV file; the tag itself is in the chunk. */
const TAG_CHUNK = 'ID3 ';
const WAV_IDS = new Set(['RIFF', 'RF64', 'BW64']);

/**
 * The format of media from its first bytes, never from a file name. Undefined for anything else, including raw PCM. A
 * few hundred bytes are enough; a file whose leading ID3v2 tag is longer than `head` is assumed to be MP3 (API:
 * Recordings; decision G-44).
 */
export function sniffFormat(head: Buffer): MediaFormat | undefined {
  const at = skipId3(head);
  if (at > 0 && at >= head.length) return 'mp3';
  return (
    formatOfMagic(head.toString('latin1', at, at + EBML_HEAD_BYTES)) ?? formatOfFrames(head, at)
  );
}

/**
 * The start of the media after leading ID3v2 tags. It is beyond the end of `bytes` if a tag declares more than there
 * is.
 */
export function skipId3(bytes: Buffer): number {
  let at = 0;
  while (isTag(bytes.toString('latin1', at, at + 4)) && at + ID3_HEADER_BYTES <= bytes.length) {
    let size = 0;
    for (let index = 6; index < ID3_HEADER_BYTES; index += 1) {
      size = size * 128 + (bytes.readUInt8(at + index) & 127);
    }
    const hasFooter = (bytes.readUInt8(at + 5) & 0x10) !== 0;
    at += ID3_HEADER_BYTES + size + (hasFooter ? ID3_HEADER_BYTES : 0);
    // Some programs write padding after the tag that its size does not count.
    while (bytes[at] === 0) at += 1;
  }
  return at;
}

function isTag(id: string): boolean {
  return id.startsWith('ID3') && id !== TAG_CHUNK;
}

function formatOfMagic(head: string): MediaFormat | undefined {
  const id = head.slice(0, 4);
  const boxType = head.slice(4, 8);
  const kind = head.slice(8, 12);
  if (WAV_IDS.has(id)) return kind === 'WAVE' ? 'wav' : undefined;
  if (id === 'FORM') return AIFF_KINDS.has(kind) ? 'aiff' : undefined;
  if (id === 'fLaC') return 'flac';
  if (id === 'OggS') return 'ogg';
  if (id === '\x1aE\xdf\xa3') return isWebm(head) ? 'webm' : undefined;
  if (boxType === 'ftyp') return FORMAT_OF_BRAND.get(kind) ?? 'mp4';
  return QUICKTIME_BOXES.has(boxType) ? 'mov' : undefined;
}

/** Whether the document type is `webm`. Its size, one to eight bytes, precedes it, and NUL may pad it (RFC 8794). */
function isWebm(head: string): boolean {
  const size = head.indexOf(DOC_TYPE) + DOC_TYPE.length;
  const sizeBytes = Math.clz32(head.charCodeAt(size)) - 23;
  return head.startsWith('webm', size + sizeBytes);
}

function formatOfFrames(head: Buffer, at: number): MediaFormat | undefined {
  if (startsWithFrames(head, at, readAdtsFrame)) return 'aac';
  return startsWithFrames(head, at, readMpegFrame) && isLayer3(head, at) ? 'mp3' : undefined;
}

function startsWithFrames(head: Buffer, at: number, read: ReadFrameHeader): boolean {
  const first = read(head, at);
  if (first === undefined) return false;
  const next = at + first.bytes;
  return next >= head.length - 1 || read(head, next)?.kind === first.kind;
}

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

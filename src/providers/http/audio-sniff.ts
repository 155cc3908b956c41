import type { Readable } from 'node:stream';
import { peekStream } from '../../common/peek-stream.js';
import type { AudioFormat, ProviderAudio } from '../ports/audio.port.js';
import type { ProviderHttp } from './provider-http.js';
import type { UpstreamRequest } from './upstream-request.js';

/** This is enough for every magic number that is checked. A shorter body is no audio. */
const SNIFF_BYTES = 12;

/** WAV with sizes of 32 or of 64 bits. */
const WAV_MAGIC = /^(RIFF|RF64|BW64)$/;

/**
 * Waits for the first bytes of a body and returns whether they can be audio of the format. The body stays unread. Raw
 * PCM has no magic number, so all bytes that are neither another format nor text are accepted as PCM. Rejects with the
 * error of the body if it breaks first.
 */
export async function sniffAudio(body: Readable, format: AudioFormat): Promise<boolean> {
  const head = await peekStream(body, SNIFF_BYTES);
  if (head.length < SNIFF_BYTES) return false;
  const named = formatOf(head);
  if (format === 'pcm') return named === null && !isUsualMp3Frame(head) && !isText(head);
  return (isMp3Frame(head) ? 'mp3' : named) === format;
}

/**
 * Waits for the first bytes of a body and returns whether they can be a file: not text, and not too few. The body stays
 * unread.
 */
export async function sniffFile(body: Readable): Promise<boolean> {
  const head = await peekStream(body, SNIFF_BYTES);
  return head.length === SNIFF_BYTES && !isText(head);
}

function formatOf(head: Buffer): Exclude<AudioFormat, 'pcm'> | null {
  const magic = head.toString('latin1', 0, 4);
  if (magic === 'OggS') return 'opus';
  if (WAV_MAGIC.test(magic)) return 'wav';
  return magic.startsWith('ID3') ? 'mp3' : null;
}

/** The header of a Layer III frame with a valid bitrate and sample rate. */
function isMp3Frame(head: Buffer): boolean {
  const [sync = 0, layer = 0, rates = 0] = head;
  const isLayer3 = sync === 0xff && (layer & 0xe6) === 0xe2;
  return isLayer3 && rates >> 4 !== 15 && rates >> 4 !== 0 && ((rates >> 2) & 3) !== 3;
}

/**
 * The header of a frame of 128 kbps at 44.1 kHz, which providers send if they ignore the requested format. Other
 * headers may be PCM: one in 12,000 loud beginnings looks like a frame of MP3.
 */
function isUsualMp3Frame(head: Buffer): boolean {
  return head[0] === 0xff && (head.readUInt16BE(1) & 0xfefc) === 0xfa90;
}

/** JSON or HTML: it begins as one of them and contains only printable characters. */
function isText(head: Buffer): boolean {
  return /^\s*[{[<][\x20-\x7e\s]*$/.test(head.toString('latin1'));
}

/** Posts a request and waits for the first bytes of audio in the format. Any other response is unusable. */
export async function requestAudio(
  http: ProviderHttp,
  request: Pick<UpstreamRequest, 'path' | 'query' | 'body' | 'timeout' | 'context'>,
  format: AudioFormat,
): Promise<ProviderAudio> {
  const headers = { accept: 'audio/*' };
  const answer = await http.request({ ...request, method: 'POST', headers });
  if (!(await sniffAudio(answer.body, format))) throw await http.noFile(answer, 'not_audio');
  return { body: answer.body, providerRequestId: answer.providerRequestId };
}

import { expect } from '@jest/globals';
import { measureBytes } from '../../src/media/duration/media-duration.js';
import type { Answer } from './http-answer.js';

const PCM_BYTES_PER_SECOND = 48_000;
const TYPES = {
  mp3: ['audio/mpeg', 'mp3'],
  opus: ['audio/ogg', 'ogg'],
  pcm: ['audio/pcm', undefined],
  wav: ['audio/wav', 'wav'],
} as const;

/** The length of an answer in seconds, from its audio. Fails the test when type or audio are not of the format. */
export function audioSeconds(
  { status, headers, bytes }: Answer,
  format: keyof typeof TYPES = 'mp3',
): number {
  expect(status === 200 ? '' : bytes.toString()).toBe('');
  const [type, container] = TYPES[format];
  expect(headers.get('content-type')).toBe(type);
  if (container === undefined) {
    expect(bytes.toString('latin1', 0, 4)).not.toMatch(/RIFF|OggS|ID3/);
    return bytes.length / PCM_BYTES_PER_SECOND;
  }
  const measured = measureBytes(bytes);
  expect(measured.format).toBe(container);
  return Number(measured.durationMicros) / 1e6;
}

/** Samples of this many seconds, as a provider sends them for `pcm`. */
export function pcmOf(seconds: number): Buffer {
  return Buffer.alloc(seconds * PCM_BYTES_PER_SECOND, Buffer.from([0xff, 0xff, 0x00, 0x00]));
}

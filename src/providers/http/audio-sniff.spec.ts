import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { AudioFormat } from '../ports/audio.port.js';
import { sniffAudio } from './audio-sniff.js';

const rest = Buffer.alloc(40, 1);
const of = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat([...parts.map((part) => Buffer.from(part as string, 'latin1')), rest]);

const HEADS: readonly [string, Buffer, AudioFormat | null][] = [
  ['an ID3 tag', of('ID3'), 'mp3'],
  ['an MPEG-1 Layer III frame', of([0xff, 0xfb, 0x90]), 'mp3'],
  ['an Ogg page', of('OggS'), 'opus'],
  ['a RIFF header', of('RIFF....WAVE'), 'wav'],
  ['silence', of([0, 0, 0, 0]), 'pcm'],
  ['quiet noise that begins with FF FF', of([0xff, 0xff, 0x01, 0x00]), 'pcm'],
  ['samples that begin like JSON', of([0x7b, 0x22, 0x01, 0x02]), 'pcm'],
  ['JSON', Buffer.from('{"detail": "quota"}'), null],
  ['HTML', Buffer.from('\n <html><body>'), null],
  ['ten bytes', Buffer.alloc(10), null],
  ['nothing', Buffer.alloc(0), null],
];

describe('sniffAudio', () => {
  for (const format of ['mp3', 'opus', 'wav', 'pcm'] as const) {
    it.each(HEADS)(`detects whether %s is ${format}`, async (_what, bytes, actual) => {
      expect(await sniffAudio(Readable.from([bytes], { objectMode: false }), format)).toBe(
        actual === format,
      );
    });
  }

  it.each([
    ['an MPEG-2 frame', [0xff, 0xf3, 0x64]],
    ['a frame of 160 kbps', [0xff, 0xfb, 0xa0]],
    ['a frame of 48 kHz', [0xff, 0xfb, 0x94]],
  ])(
    'takes loud samples that begin like %s for PCM, and such a frame for MP3',
    async (_what, head) => {
      const as = (format: AudioFormat) =>
        sniffAudio(Readable.from([of(head)], { objectMode: false }), format);
      expect([await as('pcm'), await as('mp3'), await as('wav')]).toEqual([true, true, false]);
    },
  );

  it('keeps the whole body, however small its pieces', async () => {
    const bytes = of('OggS', 'and more');
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    const body = Readable.from(pieces, { objectMode: false });
    expect(await sniffAudio(body, 'opus')).toBe(true);
    expect(await buffer(body)).toEqual(bytes);
  });

  it('rejects with what broke the body', async () => {
    const body = new Readable({ read: () => undefined });
    const sniffed = sniffAudio(body, 'mp3');
    body.destroy(new Error('cut'));
    await expect(sniffed).rejects.toThrow('cut');
    await expect(sniffAudio(body, 'mp3')).rejects.toThrow('cut');
  });
});

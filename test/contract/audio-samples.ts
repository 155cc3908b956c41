import type { AudioFormat } from '../../src/providers/ports/audio.port.js';

/** The beginning of an answer in each format. The bytes after the magic number do not matter to an adapter. */
export const AUDIO_SAMPLES: Readonly<Record<AudioFormat, Buffer>> = {
  mp3: Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(2_000, 1)]),
  opus: Buffer.concat([Buffer.from('OggS'), Buffer.alloc(2_000, 2)]),
  wav: Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), Buffer.alloc(2_000, 3)]),
  pcm: Buffer.alloc(2_000, Buffer.from([0xff, 0xff, 0x00, 0x00])),
};

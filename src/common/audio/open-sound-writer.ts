import { createMp3Writer } from './mp3-writer.js';
import { createOpusWriter } from './opus-writer.js';
import type { AudioFileFacts, SoundWriter } from './sound-writer.js';
import { createPcmWriter, createWavWriter } from './wav-writer.js';

/** The writer of the codec of a file. */
export function openSoundWriter(facts: AudioFileFacts): SoundWriter | Promise<SoundWriter> {
  switch (facts.format.codec) {
    case 'mp3':
      return createMp3Writer(facts);
    case 'opus':
      return createOpusWriter(facts);
    case 'wav':
      return createWavWriter(facts);
    case 'pcm':
      return createPcmWriter();
  }
}

import type { SoundFormat } from '../../../common/audio/sound-writer.js';

/** The format of songs, dubs and examples. */
export const MP3_128: SoundFormat = { codec: 'mp3', sampleRate: 44_100, kbps: 128 };

const FORMATS = [
  ...['mp3_22050_32', 'mp3_24000_48', 'mp3_44100_32', 'mp3_44100_64', 'mp3_44100_96'],
  ...['mp3_44100_128', 'mp3_44100_192', 'mp3_48000_192'],
  ...['opus_48000_32', 'opus_48000_64', 'opus_48000_96', 'opus_48000_128', 'opus_48000_192'],
  ...['pcm_8000', 'pcm_16000', 'pcm_22050', 'pcm_24000', 'pcm_32000', 'pcm_44100', 'pcm_48000'],
  ...['wav_8000', 'wav_16000', 'wav_22050', 'wav_24000', 'wav_32000', 'wav_44100', 'wav_48000'],
];

/** The formats known by the name of the ElevenLabs `output_format` parameter. */
export const AUDIO_FORMATS: ReadonlyMap<string, SoundFormat> = new Map(
  FORMATS.map((name) => {
    const [codec = '', sampleRate = '', kbps = '0'] = name.split('_');
    return [
      name,
      {
        codec: codec as SoundFormat['codec'],
        sampleRate: Number(sampleRate),
        kbps: Number(kbps),
      },
    ];
  }),
);

/** Content type of each codec's bytes. */
export const SOUND_CONTENT_TYPES: Readonly<Record<SoundFormat['codec'], string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  pcm: 'audio/pcm',
  wav: 'audio/wav',
};

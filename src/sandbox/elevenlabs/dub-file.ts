import { encodeSound } from '../media/audio-files/audio-encoder.js';
import { AUDIO_FORMATS } from '../media/audio-files/audio-format.js';
import { dubbedVideo } from '../media/dubbed-video.js';
import { hearAudio } from '../media/audio-files/heard-audio.js';
import { shapedSound } from '../media/audio-files/shaped-sound.js';
import { speechOfLength } from '../media/sound/speech.js';

const DUB_FORMAT = 'mp3_44100_128';
const DUBBER = { pitchHz: 120, tract: 1, speed: 1 };

/** The spoken words, and their language. */
export interface DubFile {
  readonly text: string;
  readonly targetLanguage: string;
}

/**
 * The dub of a recording as MP3: its words in a voice of the target language, with the length and loudness of the
 * source. The dub of a video is an MP4 with the same pictures. Undefined when the source cannot be read.
 */
export async function dubFile(
  source: Buffer,
  dub: DubFile,
): Promise<Buffer | AsyncIterable<Uint8Array> | undefined> {
  const format = AUDIO_FORMATS.get(DUB_FORMAT);
  const heard = await hearAudio(source);
  if (format === undefined || heard === undefined) return undefined;
  const seed = dub.targetLanguage.charCodeAt(0);
  const speech = speechOfLength(dub.text, heard.seconds, { ...DUBBER, seed });
  const audio = encodeSound(shapedSound(speech, heard.loudness), format, dub.text);
  if (!heard.hasVideo) return audio;
  const pieces: Uint8Array[] = [];
  for await (const piece of audio) pieces.push(piece);
  return dubbedVideo(source, Buffer.concat(pieces));
}

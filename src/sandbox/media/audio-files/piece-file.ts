import { encodedFile } from './audio-encoder.js';
import type { SoundFormat } from '../../../common/audio/sound-writer.js';
import { MP3_128 } from './audio-format.js';
import { mp4File } from '../mp4-file.js';
import { type Piece, soundOf } from '../sound/piece.js';

/** File formats of a piece. */
export type PieceFormat = 'mp3' | 'wav' | 'm4a';

/** Content type of each. */
export const PIECE_TYPES: Readonly<Record<PieceFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  m4a: 'audio/mp4',
};
const WAV: SoundFormat = { codec: 'wav', sampleRate: 44_100, kbps: 0 };

/** A piece as a file. `comment` goes into its tag where the format has one. */
export async function pieceFile(
  piece: Piece,
  format: PieceFormat,
  comment: string,
): Promise<Buffer> {
  const file = await encodedFile(soundOf(piece), format === 'wav' ? WAV : MP3_128, comment);
  if (format !== 'm4a') return file;
  const boxed = await mp4File(file);
  if (boxed === undefined) throw new Error('The encoded sound cannot be read');
  return boxed;
}

import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  Input,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { encodeSound } from './audio-encoder.js';
import type { SoundFormat } from './audio-format.js';
import { type Piece, soundOf } from '../sound/piece.js';

/** File formats of a piece. */
export type PieceFormat = 'mp3' | 'wav' | 'm4a';

/** Content type of each. */
export const PIECE_TYPES: Readonly<Record<PieceFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  m4a: 'audio/mp4',
};
const MP3: SoundFormat = { codec: 'mp3', sampleRate: 44_100, kbps: 128 };
const WAV: SoundFormat = { codec: 'wav', sampleRate: 44_100, kbps: 0 };

/** A piece as a file. `comment` goes into its tag where the format has one. */
export async function pieceFile(
  piece: Piece,
  format: PieceFormat,
  comment: string,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const written = format === 'wav' ? WAV : MP3;
  for await (const part of encodeSound(soundOf(piece), written, comment)) pieces.push(part);
  const file = Buffer.concat(pieces);
  return format === 'm4a' ? inMp4(file) : file;
}

/** Puts the same encoded sound into an MP4 container. */
async function inMp4(audio: Buffer): Promise<Buffer> {
  const input = new Input({ source: new BufferSource(audio), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryAudioTrack();
    const decoderConfig = await track?.getDecoderConfig();
    if (!track || !decoderConfig) throw new Error('The encoded sound cannot be read');
    const target = new BufferTarget();
    const output = new Output({ format: new Mp4OutputFormat(), target });
    const sounds = new EncodedAudioPacketSource('mp3');
    output.addAudioTrack(sounds);
    await output.start();
    for await (const packet of new EncodedPacketSink(track).packets()) {
      await sounds.add(packet, { decoderConfig });
    }
    await output.finalize();
    return Buffer.from(target.buffer ?? new ArrayBuffer(0));
  } finally {
    input.dispose();
  }
}

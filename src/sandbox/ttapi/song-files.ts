import { dubbedVideo } from '../media/dubbed-video.js';
import type { MediaShelf, PromisedFile } from '../media/media-shelf.js';
import type { Part } from '../media/sound/music-sound.js';
import { type Piece, secondsOf } from '../media/sound/piece.js';
import { PIECE_TYPES, pieceFile, type PieceFormat } from '../media/audio-files/piece-file.js';
import { encodePng } from '../media/pictures/png-image.js';
import { promptPicture } from '../media/pictures/prompt-picture.js';
import { zipFile } from '../media/zip-file.js';
import { drawVideo } from '../video/drawn-video.js';
import type { Clip } from './song-product.js';
import { withoutPart } from './stem-parts.js';

const COVER_SIDE = 512;
const ARCHIVE: readonly (readonly [name: string, parts: readonly Part[]])[] = [
  ['vocals.mp3', ['vocals']],
  ['instrumental.mp3', withoutPart('vocals')],
];

/**
 * Puts the files of songs on the shelf, where each is made when it is fetched. Every method returns the name of the
 * file.
 */
export class SongFiles {
  /** `fault`: what every fetch of these files gets instead of the file. */
  constructor(
    private readonly shelf: MediaShelf,
    private readonly fault: string | undefined,
  ) {}

  audio(clip: Clip, format: PieceFormat): string {
    return this.promise(format, PIECE_TYPES[format], () => audioOf(clip, format));
  }

  cover(clip: Clip): string {
    return this.promise('png', 'image/png', () =>
      encodePng(promptPicture(clip.title, COVER_SIDE, COVER_SIDE)),
    );
  }

  video(clip: Clip, width: number, height: number): string {
    return this.promise('mp4', 'video/mp4', () => videoOf(clip, width, height));
  }

  /** Vocals and accompaniment in one ZIP archive. */
  archive(clip: Clip): string {
    return this.promise('zip', 'application/zip', () => archiveOf(clip));
  }

  private promise(extension: string, contentType: string, make: PromisedFile['make']): string {
    return this.shelf.promise({ contentType, make, fault: this.fault }, extension);
  }
}

function audioOf({ piece, lyrics }: Clip, format: PieceFormat): Promise<Buffer> {
  return pieceFile(piece, format, lyrics);
}

async function videoOf(clip: Clip, width: number, height: number): Promise<Buffer> {
  const seconds = Math.max(1, Math.round(secondsOf(clip.piece)));
  const pictures = await drawVideo({ prompt: clip.title, width, height, seconds });
  const video = await dubbedVideo(pictures, await audioOf(clip, 'mp3'));
  if (video === undefined) throw new Error('The video could not be put together');
  return video;
}

async function archiveOf({ piece }: Clip): Promise<Buffer> {
  const entries = [];
  for (const [name, parts] of ARCHIVE) {
    const stem: Piece = { kind: 'parts', of: piece, parts };
    entries.push({ name, bytes: await pieceFile(stem, 'mp3', '') });
  }
  return zipFile(entries);
}

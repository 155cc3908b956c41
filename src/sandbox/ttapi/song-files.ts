import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../common/entries-limit.js';
import { mp4File } from '../media/mp4-file.js';
import type { MediaShelf, PromisedFile } from '../media/media-shelf.js';
import type { Part } from '../media/sound/music-sound.js';
import { type Piece, secondsOf } from '../media/sound/piece.js';
import { PIECE_TYPES, pieceFile, type PieceFormat } from '../media/audio-files/piece-file.js';
import { encodePng, promptPicture } from '../media/prompt-picture.js';
import { zipFile } from '../media/zip-file.js';
import { drawVideo } from '../video/drawn-video.js';
import type { Clip } from './song-product.js';
import { withoutPart, titleOf } from './song-making.js';
import { hearAudio } from '../media/audio-files/heard-audio.js';
import { refuseSong } from './wire-fields.js';

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
  const video = await mp4File(await audioOf(clip, 'mp3'), pictures);
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

const MAX_KNOWN = 20_000;
/** Assumed length of a recording that the sandbox cannot read. */
const IMAGINED_SECONDS = 30;
const VOICE_HZ = 180;

/**
 * What the URLs of recordings stand for. The sandbox never calls an address from a request. A URL of its own files
 * stands for the file; every other URL stands for half a minute of music, always the same for the same URL.
 */
export class Recordings {
  private readonly known = new LRUCache<string, Clip>(entriesLimit(MAX_KNOWN));

  constructor(private readonly shelf: MediaShelf) {}

  /** Notes that the file of this name is this track. */
  remember(file: string, clip: Clip): void {
    this.known.set(file, clip);
  }

  /** The recording that a URL stands for. Throws 400 for a file of the sandbox that is no recording. */
  async at(url: string): Promise<Clip> {
    const name = new URL(url).pathname.split('/').at(-1) ?? '';
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const file = await this.shelf.get(name);
    if (file === undefined) return recordingOf(url, '', IMAGINED_SECONDS);
    const heard = await hearAudio(file.bytes);
    if (heard === undefined) return refuseSong('audio_url: is no recording');
    return recordingOf(name, heard.comment ?? '', heard.seconds);
  }
}

function recordingOf(style: string, lyrics: string, seconds: number): Clip {
  const piece = { kind: 'song', style, lyrics, seconds, pitchHz: VOICE_HZ } as const;
  return { title: titleOf(lyrics), lyrics, tags: '', piece };
}

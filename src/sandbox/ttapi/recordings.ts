import { LRUCache } from 'lru-cache';
import { hearAudio } from '../media/audio-files/heard-audio.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { titleOf } from './lyric-writer.js';
import type { Clip } from './song-product.js';
import { refuseSong } from './wire-fields.js';

const MAX_KNOWN = 20_000;
/** Assumed length of a recording that the sandbox cannot read. */
const IMAGINED_SECONDS = 30;
const VOICE_HZ = 180;

/**
 * What the URLs of recordings stand for. The sandbox never calls an address from a request. A URL of its own files
 * stands for the file; every other URL stands for half a minute of music, always the same for the same URL.
 */
export class Recordings {
  private readonly known = new LRUCache<string, Clip>({ max: MAX_KNOWN });

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

import { Magic } from '../magic-inputs.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { encodedFile } from '../media/audio-files/audio-encoder.js';
import { MP3_128 } from '../media/audio-files/audio-format.js';
import { encodePng, promptPicture } from '../media/prompt-picture.js';
import { hashText } from '../media/seeded-random.js';
import { musicSound } from '../media/sound/music-sound.js';
import { speechOfLength } from '../media/sound/speech.js';
import { VideoStudio } from '../video/drawn-video.js';
import type { AskedJob } from './template-values.js';
import type { TwinOperation } from './twin-file.js';

/** A file that a job makes. */
interface Product {
  readonly contentType: string;
  readonly extension: string;
  readonly make: () => Promise<Buffer>;
}

/** Makes what the jobs of vendors are for. Files are made when they are fetched for the first time. */
export class TwinMaker {
  private readonly studio = new VideoStudio();

  constructor(private readonly shelf: MediaShelf) {}

  /** The names, on the shelf, of the files of a job. `fault` says what a fetch of one gets in its place. */
  promised(
    operation: TwinOperation,
    asked: AskedJob,
    magic: Magic,
    fault: () => string | undefined,
  ): string[] {
    const shown = { ...asked, prompt: Magic.strip(asked.prompt) };
    const products = this.productsOf(operation, shown, magic);
    return products.map(({ extension, ...file }) =>
      this.shelf.promise({ ...file, fault }, extension),
    );
  }

  private productsOf(operation: TwinOperation, shown: AskedJob, magic: Magic): Product[] {
    switch (operation) {
      case 'video': {
        const make = () => this.studio.draw(shown);
        return [{ contentType: 'video/mp4', extension: 'mp4', make }];
      }
      case 'image':
        return imagesOf(shown, magic);
      case 'composition':
        return [trackOf(shown, magic)];
    }
  }
}

/** A track that sings the lyrics or, without them, the prompt, unless it is instrumental. */
function trackOf({ prompt, lyrics, isInstrumental, seconds }: AskedJob, magic: Magic): Product {
  const words = isInstrumental ? '' : Magic.strip(lyrics) || prompt;
  const singer = { pitchHz: 220, speed: 1, seed: hashText(prompt) };
  const make = () => {
    const vocals = words === '' ? undefined : speechOfLength(words, seconds, singer);
    const sound = musicSound(prompt, seconds, vocals && { vocals });
    const format = magic.has('wrong-format') ? ({ ...MP3_128, codec: 'wav' } as const) : MP3_128;
    return encodedFile(sound, format, words);
  };
  return { contentType: 'audio/mpeg', extension: 'mp3', make };
}

/** As many as were asked for, or fewer where a magic word says so; each shows which one it is. */
function imagesOf({ prompt, count, width, height }: AskedJob, magic: Magic): Product[] {
  const made = magic.has('no-data') ? 0 : Math.min(count, magic.number('images', count) ?? count);
  return Array.from({ length: made }, (_, index) => {
    const text = index === 0 ? prompt : `${prompt} (${index + 1})`;
    const make = () => encodePng(promptPicture(text, width, height));
    return { contentType: 'image/png', extension: 'png', make };
  });
}

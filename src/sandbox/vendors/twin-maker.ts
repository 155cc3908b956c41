import { Magic } from '../magic-inputs.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { encodePng, promptPicture } from '../media/prompt-picture.js';
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
    const products = operation === 'video' ? [this.video(shown)] : imagesOf(shown, magic);
    return products.map(({ extension, ...file }) =>
      this.shelf.promise({ ...file, fault }, extension),
    );
  }

  private video(shown: AskedJob): Product {
    const make = () => this.studio.draw(shown);
    return { contentType: 'video/mp4', extension: 'mp4', make };
  }
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

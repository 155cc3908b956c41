import { sample } from '../../test/media/byte-edits.js';
import { flacFile } from '../../test/media/flac-file.js';

const FILE_BYTES = 50_000_000;
const FLAC_SAMPLES = 4_096 * 55_000;

/** Files that take long to measure: as many frames as 50 MB can hold. */
export function longFiles(): readonly Buffer[] {
  return [repeated('tone.mp3'), repeated('tone.aac'), flacFile(FLAC_SAMPLES)];
}

function repeated(name: string): Buffer {
  const bytes = sample(name);
  return Buffer.concat(new Array<Buffer>(Math.floor(FILE_BYTES / bytes.length)).fill(bytes));
}

/** A form with this model and file. */
export function formWithFile(model: string, file: Buffer): { contentType: string; body: Buffer } {
  const head =
    `--B\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n` +
    `--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
  return {
    contentType: 'multipart/form-data; boundary=B',
    body: Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--B--\r\n')]),
  };
}

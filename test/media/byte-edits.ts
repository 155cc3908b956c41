import { readFileSync } from 'node:fs';

/** A sample of an encoder that this project does not include (test/samples/media/make.sh): 12.34 s of a tone. */
export function sample(name: string): Buffer {
  return readFileSync(new URL(`../samples/media/${name}`, import.meta.url));
}

/** A copy of `bytes`, changed by `edit`. */
export function edited(bytes: Buffer, edit: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  edit(copy);
  return copy;
}

/** The index after each occurrence of `mark`. */
export function endsOf(bytes: Buffer, mark: string | Buffer): number[] {
  const needle = typeof mark === 'string' ? Buffer.from(mark, 'latin1') : mark;
  const ends: number[] = [];
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) {
    ends.push(at + needle.length);
  }
  return ends;
}

/** A copy with 32-bit big-endian numbers written at these offsets after every occurrence of `mark`. */
export function withNumbers(bytes: Buffer, mark: string, numbers: Record<number, number>): Buffer {
  return edited(bytes, (copy) => {
    for (const end of endsOf(bytes, mark)) {
      for (const [offset, value] of Object.entries(numbers)) {
        copy.writeUInt32BE(value, end + Number(offset));
      }
    }
  });
}

import { describe, expect, it } from '@jest/globals';
import { MediaShelf } from './media-shelf.js';

describe('MediaShelf', () => {
  const file = { bytes: Buffer.from('a recording'), contentType: 'audio/mpeg' };

  it('keeps equal files once, and others under names of their own', async () => {
    const shelf = new MediaShelf();
    const name = shelf.put(file, 'mp3');
    expect(shelf.put({ ...file, bytes: Buffer.from('a recording') }, 'mp3')).toBe(name);
    expect(shelf.put({ ...file, contentType: 'audio/wav' }, 'mp3')).not.toBe(name);
    expect(shelf.put({ ...file, bytes: Buffer.from('another') }, 'mp3')).not.toBe(name);
    expect((await shelf.get(name))?.bytes.toString()).toBe('a recording');
  });

  it('drops the oldest bytes beyond its bound', async () => {
    const shelf = new MediaShelf();
    const large = (byte: number) => ({ ...file, bytes: Buffer.alloc(48 * 1024 * 1024, byte) });
    const [first, second, third] = [1, 2, 3].map((byte) => shelf.put(large(byte), 'bin'));
    expect(await shelf.get(first!)).toBeUndefined();
    expect((await shelf.get(second!))?.bytes.length).toBe(48 * 1024 * 1024);
    expect((await shelf.get(third!))?.bytes.length).toBe(48 * 1024 * 1024);
  });
});

import { describe, expect, it } from '@jest/globals';
import { ImageUpload } from './image-upload.js';

function uploadWith(removals: string[]): ImageUpload {
  const files = {
    files: [],
    remove: () => {
      removals.push('removed');
      return Promise.resolve();
    },
  };
  return new ImageUpload({ files, images: [], mask: undefined } as never);
}

describe('the files of an edit', () => {
  it('begin no work once their client has left, and are removed', async () => {
    const removals: string[] = [];
    const upload = uploadWith(removals);
    await upload.discard();
    let hasRun = false;
    const work = () => {
      hasRun = true;
      return Promise.resolve();
    };
    await expect(upload.during(work)).rejects.toMatchObject({ code: 'invalid_request' });
    expect([hasRun, removals]).toEqual([false, ['removed']]);
  });

  it('stay while work has them, also where the client leaves, and are removed once', async () => {
    const removals: string[] = [];
    const upload = uploadWith(removals);
    await upload.during(async () => {
      await upload.discard();
      expect(removals).toEqual([]);
    });
    expect(removals).toEqual(['removed']);
  });
});

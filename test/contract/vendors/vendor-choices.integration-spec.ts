import { describe, expect, it } from '@jest/globals';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import type { VendorFile } from '../../../src/providers/async-json/vendor-file.js';
import {
  CONTEXT,
  MADE,
  SEA,
  sentBody,
  vendor,
  vendorAnswers,
  vendorPort,
} from './vendor-harness.js';

const IMAGE = 'https://img.test/a.png';
const BOTH = { ...SEA, firstFrameUrl: IMAGE, imageUrls: [IMAGE] };

/** A vendor that makes videos with sound at another path, where their jobs are found too. */
const SOUNDING: Partial<VendorFile> = {
  submit: {
    variant: 'silent',
    path: '/silent',
    body: { prompt: '{{prompt}}', name: '{{reference}}' },
    variants: [
      {
        variant: 'sounding',
        has: ['audio'],
        path: '/sounding',
        body: {
          prompt: '{{prompt}}',
          name: '{{reference}}',
          sound: { $field: 'audio', table: { true: 'on', false: 'off' } },
        },
      },
    ],
    id: 'id',
  },
  read: {
    path: '/{variant}/{id}',
    state: 'state',
    states: { succeeded: ['done'], failed: ['failed'] },
  },
  lookup: { path: '/{variant}/named/{reference}', id: 'id', reference: 'name', absent: [] },
};
const WITH_SOUND = { ...CONTEXT, terms: { constants: { sound: 'on' } } };

describe('a vendor whose variants differ by a field', () => {
  it('is submitted to and asked at the variant of a constant that stands for the field', async () => {
    const port = vendorPort(SOUNDING);
    vendorAnswers({ id: 'j1', name: 'task-1' });
    const command = { ...SEA, reference: 'task-1' };
    expect(await port.submitVideo(command, WITH_SOUND)).toBe('sounding:j1');
    expect(await port.findVideo?.(command, WITH_SOUND, MADE)).toBe('sounding:j1');
    expect(await port.submitVideo(command, CONTEXT)).toBe('silent:j1');
    expect(vendor.seen.map(({ url }) => url)).toEqual([
      ...['/v1/sounding', '/v1/sounding/named/task-1', '/v1/silent'],
    ]);
    const [first, , last] = vendor.seen;
    expect(first && sentBody(first)).toMatchObject({ prompt: 'The sea', sound: 'on' });
    expect(last && sentBody(last)).toEqual({ prompt: 'The sea', name: 'task-1' });
  });
});

describe('fields that a file keeps apart', () => {
  it('are sent to the vendor one by one, and never together', async () => {
    const body = {
      prompt: '{{prompt}}',
      image: '{{first_frame_url}}',
      images: [{ $each: 'image_urls', item: '{{item}}' }],
    };
    const apart = [['first_frame_url', 'image_urls']] as const;
    const port = vendorPort({ submit: { path: '/v', id: 'id', body, not_together: apart } });
    vendorAnswers({ id: 'j1' });
    expect(port.lacks?.(BOTH, CONTEXT)).toEqual(apart[0]);
    await expect(port.submitVideo(BOTH, CONTEXT)).rejects.toMatchObject({
      kind: 'rejected',
      sent: false,
    });
    expect(vendor.seen).toEqual([]);
    await port.submitVideo({ ...SEA, firstFrameUrl: IMAGE }, CONTEXT);
    await port.submitVideo({ ...SEA, imageUrls: [IMAGE] }, CONTEXT);
    expect(vendor.seen).toHaveLength(2);
  });

  it('are a first frame and references at fal, whose models take image_url or image_urls', () => {
    const { submit, read } = loadVendors(undefined).get('fal') ?? {};
    if (!submit || !read) throw new Error('no file');
    const port = vendorPort({ submit, read });
    for (const upstreamModel of ['fal-ai/veo3', 'fal-ai/kling-video']) {
      expect(port.lacks?.(BOTH, { upstreamModel })).toEqual(['first_frame_url', 'image_urls']);
      expect(port.lacks?.({ ...SEA, firstFrameUrl: IMAGE }, { upstreamModel })).toEqual([]);
    }
  });
});

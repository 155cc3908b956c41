import { describe, expect, it } from '@jest/globals';
import type { ModelRow } from '../catalog/model-row.js';
import { VIDEO_MODELS } from '../catalog/models/built-in.models.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { VideoBody } from './dto/video.body.js';
import { checkVideoLimits } from './video-limits.js';

const rowOf = (id: string): ModelRow<'video'> => VIDEO_MODELS.find((row) => row.id === id)!;
const OMNI = rowOf('vid-omni');
const MOTION = rowOf('vid-motion');
const urls = (count: number) => Array.from({ length: count }, (_, i) => `https://a.example/${i}`);
const bodyOf = (fields: Partial<VideoBody>): VideoBody => ({
  model: 'any',
  prompt: 'The sea',
  seconds: '10',
  ...fields,
});

describe('the limits of a video model', () => {
  it.each<[ModelRow<'video'>, Partial<VideoBody>, bigint]>([
    [OMNI, {}, 500_000n],
    [OMNI, { size: '1280x720', image_urls: urls(1) }, 500_000n],
    [OMNI, { size: '10x99999' }, 500_000n],
    [MOTION, { seconds: '5' }, 250_000n],
    [MOTION, { seconds: '10', aspect_ratio: '16:9' }, 500_000n],
    [MOTION, { seconds: '15', aspect_ratio: '1:1', image_urls: urls(4) }, 750_000n],
  ])('of $id take %j', (row, fields, price) => {
    expect(checkVideoLimits(row, bodyOf(fields)).amountMicroUsd).toBe(price);
  });

  it.each<[ModelRow<'video'>, Partial<VideoBody>, string, string]>([
    [OMNI, { seconds: '5' }, 'seconds', 'seconds must be 10 with this model.'],
    [OMNI, { seconds: '10.0' }, 'seconds', 'seconds must be 10 with this model.'],
    [MOTION, { seconds: '8' }, 'seconds', 'seconds must be one of 5, 10, 15 with this model.'],
    [MOTION, { seconds: '__proto__' }, 'seconds', 'one of'],
    [OMNI, { size: '1280*720' }, 'size', 'size must be <width>x<height> with this model.'],
    [OMNI, { size: '0x720' }, 'size', 'size must be'],
    [OMNI, { size: '1280x720x1' }, 'size', 'size must be'],
    [OMNI, { size: '100000x720' }, 'size', 'size must be'],
    [MOTION, { size: '1280x720' }, 'size', 'size must not be sent with this model.'],
    [OMNI, { aspect_ratio: '16:9' }, 'aspect_ratio', 'aspect_ratio must not be sent'],
    [MOTION, { aspect_ratio: '16x9' }, 'aspect_ratio', 'must be one of 16:9, 9:16, 1:1'],
    [MOTION, { aspect_ratio: '21:9' }, 'aspect_ratio', 'must be one of'],
    [OMNI, { image_urls: urls(2) }, 'image_urls', 'image_urls must have at most 1 URL with'],
    [MOTION, { image_urls: urls(5) }, 'image_urls', 'at most 4 URLs with'],
  ])('of $id refuse %j, naming %s', (row, fields, param, message) => {
    const refusal = (): unknown => {
      try {
        return checkVideoLimits(row, bodyOf(fields));
      } catch (error) {
        return error;
      }
    };
    expect(refusal()).toBeInstanceOf(GatewayError);
    expect(refusal()).toMatchObject({ code: 'invalid_request', param });
    expect((refusal() as GatewayError).message).toContain(message);
  });

  it('of a model without images reject any image', () => {
    const row = { ...MOTION, limits: { ...MOTION.limits, maxImageUrls: 0 } };
    expect(() => checkVideoLimits(row, bodyOf({ image_urls: urls(1) }))).toThrow(
      'image_urls must not be sent with this model.',
    );
  });
});

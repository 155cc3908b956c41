import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfVideo } from '../catalog/price-rule.js';
import { chosenOf } from '../catalog/video-choices.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { oneOfWords } from '../common/validation/fields.js';
import type { Quote } from '../common/money/charge-basis.js';
import type { VideoBody } from './dto/video.body.js';

type Field =
  | 'seconds'
  | 'size'
  | 'aspect_ratio'
  | 'resolution'
  | 'audio'
  | 'first_frame_url'
  | 'last_frame_url'
  | 'image_urls';
type Limits = ModelRow<'video'>['limits'];

const NOT_TAKEN = 'must not be sent';

/**
 * Checks the body against the row of its model; returns the price. Throws 400 `invalid_request` whose message and
 * `param` name the field (API: POST /v1/videos; decisions G-26, G-62).
 */
export function checkVideoLimits(row: ModelRow<'video'>, body: VideoBody): Quote {
  const { price, limits } = row;
  checkChoices(limits, body);
  const quote = quoteOfVideo(row, body.seconds, chosenOf(limits, body));
  if (quote === undefined) {
    throw rejection('seconds', `must be ${oneOfWords(Object.keys(price.microUsdBySeconds))}`);
  }
  checkSize(limits, body);
  checkAspectRatio(limits, body);
  checkFrames(limits, body);
  checkImageCount(limits, body);
  return quote;
}

function checkSize({ sizePattern }: Limits, { size }: VideoBody): void {
  if (size === undefined) return;
  if (sizePattern === undefined) throw rejection('size', NOT_TAKEN);
  if (!new RegExp(sizePattern).test(size)) throw rejection('size', 'must be <width>x<height>');
}

function checkAspectRatio({ aspectRatios }: Limits, { aspect_ratio: ratio }: VideoBody): void {
  if (ratio === undefined) return;
  if (aspectRatios === undefined) throw rejection('aspect_ratio', NOT_TAKEN);
  if (!aspectRatios.includes(ratio))
    throw rejection('aspect_ratio', `must be ${oneOfWords(aspectRatios)}`);
}

function checkChoices({ resolutions, audio }: Limits, body: VideoBody): void {
  const { resolution } = body;
  if (resolution !== undefined) {
    if (resolutions === undefined) throw rejection('resolution', NOT_TAKEN);
    if (!resolutions.includes(resolution))
      throw rejection('resolution', `must be ${oneOfWords(resolutions)}`);
  }
  if (body.audio !== undefined && audio !== true) throw rejection('audio', NOT_TAKEN);
}

/** A video that ends with an image begins with one: no provider takes the end alone. */
function checkFrames({ frames = [] }: Limits, body: VideoBody): void {
  const { first_frame_url: first, last_frame_url: last } = body;
  if (first !== undefined && !frames.includes('first')) {
    throw rejection('first_frame_url', NOT_TAKEN);
  }
  if (last === undefined) return;
  if (!frames.includes('last')) throw rejection('last_frame_url', NOT_TAKEN);
  if (first === undefined) throw rejection('first_frame_url', 'must be sent with last_frame_url');
}

function checkImageCount({ maxImageUrls }: Limits, { image_urls: urls = [] }: VideoBody): void {
  if (urls.length <= maxImageUrls) return;
  const most = `must have at most ${maxImageUrls} URL${maxImageUrls === 1 ? '' : 's'}`;
  throw rejection('image_urls', maxImageUrls === 0 ? NOT_TAKEN : most);
}

function rejection(field: Field, says: string): GatewayError {
  const message = `${field} ${says} with this model.`;
  return new GatewayError('invalid_request', message, { param: field });
}

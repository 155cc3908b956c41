import { ModelId, OneOf } from '../../common/validation/fields.js';

const model = {
  optional: true,
  description: 'Model of the video; checked where it is sent',
} as const;

/** Query of GET /v1/videos/{id} (decision G-59). */
export class VideoQuery {
  @ModelId(model)
  model?: string;
}

/** Query of GET /v1/videos/{id}/content. SDKs may name the variant; there is only one. */
export class VideoContentQuery extends VideoQuery {
  @OneOf(['video'], { optional: true, description: 'The file itself' })
  variant?: 'video';
}

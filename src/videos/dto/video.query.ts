import { ModelId, Enum, Text } from '../../common/validation/fields.js';

/** The guard has checked its value. */
const LINK_TEXT_LIMIT = 200;

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
  @Enum(['video'], { optional: true, description: 'The file itself' })
  variant?: 'video';

  @Text({ optional: true, max: LINK_TEXT_LIMIT, description: 'Of a link' })
  expires?: string;

  @Text({ optional: true, max: LINK_TEXT_LIMIT, description: 'Of a link' })
  signature?: string;
}

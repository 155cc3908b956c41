import { Custom, Enum, Text } from '../../common/validation/fields.js';
import { MAX_URL_CHARACTERS } from '../../platform/http-client/public-url.js';
import { isWebUrl } from '../webhook-fields.js';
import { EVENT_TYPES, type EventType } from './event-type.js';

/** Body of POST /v1/webhook-endpoints. */
export class WebhookEndpointBody {
  @Custom(isWebUrl, 'must be an https URL', {
    description: 'Public https URL that is told the events',
    example: 'https://example.com/hooks/shim',
    api: { type: String, format: 'uri', maxLength: MAX_URL_CHARACTERS },
  })
  url!: string;

  @Text({
    min: 16,
    max: 256,
    blank: 'allowed',
    example: 'a-secret-of-your-own',
    description: 'Signs the deliveries. Never shown again',
  })
  secret!: string;

  @Enum(EVENT_TYPES, {
    list: { min: 1, max: EVENT_TYPES.length },
    description: 'Types of the events that it is told',
  })
  events!: EventType[];
}

import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import type { ErrorCode } from '../common/errors/error-table.js';
import { parseUrl } from '../common/parse-url.js';
import { RequiredWith } from '../common/validation/cross-field-rules.js';
import { Custom, Text } from '../common/validation/fields.js';
import { MAX_URL_CHARACTERS } from '../platform/http-client/public-url.js';

/** Bound on a host in a query: a name of 253 characters, with a port. */
export const MAX_HOST = 260;

const WEB_URL = /^https?:\/\//i;
const AUDIO_CODE: ErrorCode = 'invalid_task_command';

/**
 * `webhook` of an audio task: a public https URL (API: Webhook events). This checks the form, `WebhookUrlPolicy` the host. http
 * is accepted here, because `EGRESS_ALLOW` may allow it for a host. The error code is `invalid_task_command`.
 */
export function AudioWebhook(): PropertyDecorator {
  return webhookUrl('https', AUDIO_CODE);
}

/** `webhook_secret` of an audio task: required with `webhook`, 16 to 256 characters (decisions G-76, G-79). */
export function AudioWebhookSecret(): PropertyDecorator {
  return requiredSecret(AUDIO_CODE);
}

function requiredSecret(code?: ErrorCode): PropertyDecorator {
  return applyDecorators(
    NeedsWebhook(code),
    Text({
      min: 16,
      max: 256,
      blank: 'allowed',
      ...(code !== undefined && { code }),
      description: 'Signs the deliveries. Required with webhook',
    }),
    RequiredWith('webhook'),
  );
}

/** `webhook` of a text that is made in the background: as that of an audio task, with the error code `invalid_request`. */
export function TextWebhook(): PropertyDecorator {
  return webhookUrl('https');
}

/** `webhook_secret` of a text that is made in the background: as that of an audio task, with the error code `invalid_request`. */
export function TextWebhookSecret(): PropertyDecorator {
  return requiredSecret();
}

/** `webhook` of a video task: a public http or https URL (API: Webhook events). The error code is `invalid_request`. */
export function VideoWebhook(): PropertyDecorator {
  return webhookUrl('http or https');
}

/** `webhook_secret` of a video task: 8 to 128 characters, only with `webhook` (decision G-79). */
export function VideoWebhookSecret(): PropertyDecorator {
  return applyDecorators(
    NeedsWebhook(),
    Text({
      min: 8,
      max: 128,
      blank: 'allowed',
      optional: true,
      description: 'Signs the deliveries. Only with webhook',
    }),
  );
}

function webhookUrl(schemes: string, code?: ErrorCode): PropertyDecorator {
  return Custom(isWebUrl, `must be an ${schemes} URL`, {
    optional: true,
    description: `Public ${schemes} URL that is told the final state`,
    example: 'https://example.com/hooks/shim',
    api: { type: String, format: 'uri', maxLength: MAX_URL_CHARACTERS },
    ...(code !== undefined && { code }),
  });
}

/** Whether a value is a URL of http or https in the form that webhooks may have. */
export function isWebUrl(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_URL_CHARACTERS) return false;
  // The URL parser would silently replace a lone surrogate (decision G-03).
  return WEB_URL.test(value) && value.isWellFormed() && parseUrl(value) !== undefined;
}

/** Refuses a secret without a URL, because the URL was probably forgotten (decision G-79). */
function NeedsWebhook(code?: ErrorCode): PropertyDecorator {
  return ValidateBy(
    {
      name: 'needsWebhook',
      validator: {
        validate: (secret, args) =>
          secret === undefined || (args?.object as { webhook?: unknown }).webhook !== undefined,
      },
    },
    { message: '$property needs webhook', context: code === undefined ? {} : { code } },
  );
}

import type { IncomingMessage } from 'node:http';
import type { ErrorCode, ErrorType } from './error-table.js';
import type { GatewayError } from './gateway-error.js';

/** A family of endpoints with its own codes for common faults (ADR 0003). */
export type ApiFamily = 'general' | 'messages' | 'audio' | 'dubbing' | 'song' | 'video';

/** What decides on the family of a request. Express keeps the whole target in `originalUrl`. */
export type RequestHead = Pick<IncomingMessage, 'url' | 'headers'> & {
  readonly originalUrl?: string;
};

/** The family of a request, which decides on the form and the codes of its errors. */
export type FamilyOf = (request: RequestHead) => ApiFamily;

/** Errors whose public code depends on the API family. */
export type ApiFamilyFault =
  'invalidField' | 'unknownModel' | 'wrongEndpoint' | 'insufficient' | 'invalidWebhook';

const GENERAL = {
  invalidField: 'invalid_request',
  unknownModel: 'model_not_found',
  wrongEndpoint: 'model_wrong_kind',
  insufficient: 'insufficient_user_quota',
  invalidWebhook: 'invalid_request',
} as const satisfies Record<ApiFamilyFault, ErrorCode>;

const AUDIO = {
  ...GENERAL,
  unknownModel: 'model_not_available',
  wrongEndpoint: 'no_eligible_route',
  insufficient: 'insufficient_funds',
} as const satisfies Record<ApiFamilyFault, ErrorCode>;

/** The public code of each error in each API family (decisions G-06, G-07, G-09, G-68, G-76). */
export const API_FAMILY_CODES: Record<ApiFamily, Record<ApiFamilyFault, ErrorCode>> = {
  general: GENERAL,
  messages: GENERAL,
  video: GENERAL,
  audio: AUDIO,
  dubbing: { ...AUDIO, invalidWebhook: 'invalid_task_command' },
  song: { ...AUDIO, invalidField: 'invalid_music_request', invalidWebhook: 'invalid_task_command' },
};

/** The same error with the code of the API family: songs have their own code for an invalid field. */
export function inApiFamily(error: GatewayError, surface: ApiFamily): GatewayError {
  if (error.code !== 'invalid_request') return error;
  const code = API_FAMILY_CODES[surface].invalidField;
  return code === error.code ? error : error.withCode(code);
}

/** The `error.type` if it differs from the table's: an invalid field of a video (decision G-04). */
export function typeInApiFamily(error: GatewayError, surface: ApiFamily): ErrorType | undefined {
  return surface === 'video' && error.code === 'invalid_request' ? 'invalid_request' : undefined;
}

import type { RequestListener } from 'node:http';
import { GatewayError } from '../errors/gateway-error.js';
import { toPublicId } from '../ids/public-id.js';
import { timeOrderedUuid } from '../ids/time-ordered-uuid.js';
import type { Clock } from '../time/clock.js';
import { EXECUTION_ID_HEADER } from './execution-id.js';
import { discardRest } from './refused-body.js';

const RETRY_AFTER_SECONDS = 1;
const BODY = JSON.stringify(
  new GatewayError('service_unavailable', 'The gateway has too much to do right now.').toEnvelope(),
);

/**
 * Answers 503 `service_unavailable` without looking at the request, for a fraction of the CPU of a call (decision
 * G-100). Nothing was held, so the client may repeat the request.
 */
export function overloadRefusal(clock: Clock, onRefused: () => void): RequestListener {
  return (request, response) => {
    const publicId = toPublicId('exec', timeOrderedUuid(clock.nowMs()));
    onRefused();
    discardRest(request);
    response.writeHead(503, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': BODY.length,
      'Retry-After': String(RETRY_AFTER_SECONDS),
      'x-request-id': publicId,
      [EXECUTION_ID_HEADER]: publicId,
    });
    response.end(BODY);
  };
}

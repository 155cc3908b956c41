import { Inject, Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { isNativeError } from 'node:util/types';
import { SecretBoxError } from '../common/secrets/secret-box.js';
import { TRACE_PARENT_HEADER } from '../common/trace-parent.js';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Deadline } from '../platform/http-client/deadline.js';
import { AddressRefusedError, SsrfSafeDialer } from '../platform/http-client/ssrf-safe-dialer.js';
import type { DeliveryAttempt } from './delivery.js';
import type { ClaimedDelivery } from './delivery-statements.js';
import { SIGNATURE_HEADER, signatureOf } from './webhook-signature.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { TargetRefusedError, WebhookUrlPolicy } from './webhook-url-policy.js';

/** Most bytes read of a receiver's response. The content is ignored. */
const MAX_RESPONSE_BYTES = 4_096;
/** The timeouts of the phases exceed the deadline of the attempt by this, so that only the deadline applies. */
const PHASE_SLACK_MS = 1_000;
const TLS_FAULT = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/;
const NAME_FAULT = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/;

/** Why there was no response. */
type AttemptFault =
  | 'timeout'
  | 'address_refused'
  | 'url_refused'
  | 'name_unresolved'
  | 'tls_failed'
  | 'connection_failed'
  | 'secret_unreadable';

/**
 * Makes one attempt: sends the stored body with a new signature to an address that is checked when it is dialled, and follows
 * no redirects (API: Webhook events; decisions G-80, G-81, G-83, G-84).
 */
@Injectable()
export class WebhookSender {
  private readonly timeoutMs: number;

  constructor(
    private readonly dialer: SsrfSafeDialer,
    private readonly urlPolicy: WebhookUrlPolicy,
    private readonly secrets: WebhookSecrets,
    private readonly clock: Clock,
    @Inject(GATEWAY_CONFIG) { webhookTimeoutMs }: GatewayConfig,
  ) {
    this.timeoutMs = webhookTimeoutMs;
  }

  /** Never throws. A failure is returned as the attempt's `error`. The receiver gets the `traceParent`, if there is one. */
  async attempt(delivery: ClaimedDelivery, traceParent?: string): Promise<DeliveryAttempt> {
    const startedMs = this.clock.nowMs();
    const runningSince = performance.now();
    const deadline = new Deadline(this.timeoutMs);
    let statusCode: number | null = null;
    let error: AttemptFault | null = null;
    try {
      statusCode = await this.post(delivery, deadline.signal, traceParent);
    } catch (cause) {
      error = deadline.signal.aborted ? 'timeout' : faultOf(cause);
    } finally {
      deadline.clear();
    }
    const durationMs = Math.round(performance.now() - runningSince);
    return { startedAt: new Date(startedMs), statusCode, error, durationMs };
  }

  private async post(
    delivery: ClaimedDelivery,
    signal: AbortSignal,
    traceParent: string | undefined,
  ): Promise<number> {
    const phaseMs = this.timeoutMs + PHASE_SLACK_MS;
    const response = await this.dialer.request(this.urlPolicy.revalidate(delivery.url), {
      method: 'POST',
      headers: {
        ...this.headersOf(delivery),
        ...(traceParent !== undefined && { [TRACE_PARENT_HEADER]: traceParent }),
      },
      body: delivery.body,
      signal,
      limits: { connectMs: phaseMs, headersMs: phaseMs, idleMs: phaseMs },
    });
    try {
      await readSome(response.body);
    } finally {
      response.close();
    }
    return response.status;
  }

  private headersOf({ sealedSecret, ownerId, body }: ClaimedDelivery): Record<string, string> {
    const headers = { 'Content-Type': 'application/json', Connection: 'close' };
    if (sealedSecret === null) return headers;
    const secret = this.secrets.open(sealedSecret, ownerId);
    return { ...headers, [SIGNATURE_HEADER]: signatureOf(secret, this.clock.nowSeconds(), body) };
  }
}

/**
 * Lets the receiver finish a short response. The status has decided the outcome, so a broken or endless body changes nothing.
 */
async function readSome(body: Readable): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes >= MAX_RESPONSE_BYTES) return;
    }
  } catch {
    // Ignored: the status has decided the outcome.
  }
}

function faultOf(error: unknown): AttemptFault {
  if (error instanceof AddressRefusedError) return 'address_refused';
  if (error instanceof SecretBoxError) return 'secret_unreadable';
  if (error instanceof TargetRefusedError) return 'url_refused';
  const code = isNativeError(error) && 'code' in error ? String(error.code) : '';
  if (TLS_FAULT.test(code)) return 'tls_failed';
  return NAME_FAULT.test(code) ? 'name_unresolved' : 'connection_failed';
}

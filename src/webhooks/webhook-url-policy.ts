import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { API_FAMILY_CODES, type ApiFamily } from '../common/errors/api-family.js';
import { Deadline } from '../platform/http-client/deadline.js';
import { EgressRules } from '../platform/http-client/egress-rules.js';
import { AddressRefusedError, SsrfSafeDialer } from '../platform/http-client/ssrf-safe-dialer.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import { validatePublicUrl } from '../platform/http-client/public-url.js';

/** A submission waits this long for the DNS lookup of the receiver. If the lookup fails, the task is accepted all the same. */
const RESOLVE_MS = 3_000;

/** What a URL is for: tasks of an API family, or the events of an account. */
export type WebhookUse = ApiFamily | 'account';

/** The current settings refuse a URL that was accepted at submission. */
export class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError';
}

/** Decides which URLs webhooks may be sent to (API: Webhook events; decision G-80). */
@Injectable()
export class WebhookUrlPolicy {
  constructor(
    private readonly dialer: SsrfSafeDialer,
    private readonly rules: EgressRules,
    private readonly own: GatewayUrl,
  ) {}

  /**
   * Parses a webhook URL and checks its scheme (by the rules of the API family), the gateway's own host and private addresses.
   * Throws `invalid_task_command` or, for videos, `invalid_request`, with param `webhook`; `invalid_request` with `url` for an
   * account.
   */
  parse(url: string, surface: WebhookUse): URL {
    const verdict = validatePublicUrl(url, {
      rules: this.rules,
      ownUrls: this.own.all,
      isHttpsOnly: surface !== 'video',
    });
    if ('rejection' in verdict) throw rejected(surface, verdict.rejection);
    return verdict.url;
  }

  /** The URL of an accepted delivery, checked again with the current settings. Throws TargetRefusedError. */
  revalidate(url: string): URL {
    const verdict = validatePublicUrl(url, { rules: this.rules, ownUrls: this.own.all });
    if ('rejection' in verdict) throw new TargetRefusedError();
    return verdict.url;
  }

  /**
   * {@link parse}, then checks the addresses of the host. A name that does not resolve is accepted, because every attempt checks
   * again. Throws like {@link parse}.
   */
  async resolve(url: string, surface: WebhookUse): Promise<void> {
    const target = this.parse(url, surface);
    const deadline = new Deadline(RESOLVE_MS);
    try {
      await this.dialer.addressesOf(target, deadline.signal);
    } catch (error) {
      if (error instanceof AddressRefusedError)
        throw rejected(surface, 'must point at a public host');
    } finally {
      deadline.clear();
    }
  }
}

function rejected(surface: WebhookUse, rejection: string): GatewayError {
  if (surface === 'account')
    return new GatewayError('invalid_request', `url ${rejection}.`, { param: 'url' });
  const code = API_FAMILY_CODES[surface].invalidWebhook;
  return new GatewayError(code, `webhook ${rejection}.`, { param: 'webhook' });
}

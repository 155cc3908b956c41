import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { KeyedDigest } from '../../common/secrets/keyed-digest.js';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import type { Task } from '../task.js';
import type { ContentLinkView } from './content-link.view.js';

/** Prefix of the signed text, so that a signature made for another purpose is never valid for a link. */
const WORD = 'content';
const EXPIRES = /^[1-9]\d{0,11}$/;
const SIGNATURE = /^[0-9a-f]{64}$/;

/** Where the file of a task is served, and when its link expires. */
export interface LinkedFile {
  /** Such as `videos`, as in `/v1/videos/{id}/content`. */
  readonly surface: 'tasks' | 'videos';
  /** Epoch seconds. */
  readonly expiresAt: number;
  /** The URL at which the caller reached the gateway. Default: that of the current request. */
  readonly gatewayUrl?: string | undefined;
}

/**
 * Makes and checks links to the files of tasks. They work without any header until they expire (decision G-104). The signature
 * is HMAC-SHA256 over the word `content`, the public id and the expiry, made with the first `SECRET_KEY` and checked with all.
 */
@Injectable()
export class ContentLinks {
  private readonly digest: KeyedDigest;

  constructor(
    @Inject(GATEWAY_CONFIG)
    private readonly config: Pick<GatewayConfig, 'secretKeys' | 'contentLinkTtlSeconds'>,
    private readonly gatewayUrl: GatewayUrl,
    private readonly clock: Clock,
  ) {
    this.digest = new KeyedDigest(config.secretKeys ?? [], WORD);
  }

  /** The link. The same task, file and first `SECRET_KEY` give the same text. */
  urlOf({ id }: Pick<Task, 'id'>, file: LinkedFile): string {
    const { surface, expiresAt, gatewayUrl = this.gatewayUrl.href } = file;
    const publicId = toPublicId('task', id);
    const [signature] = this.digest.of(signed(publicId, String(expiresAt)));
    const query = `expires=${expiresAt}&signature=${signature?.toString('hex') ?? ''}`;
    return `${gatewayUrl}/v1/${surface}/${publicId}/content?${query}`;
  }

  /** A link that is valid for `CONTENT_LINK_TTL_SECONDS`, at most until `file.expiresAt`. */
  temporary(task: Pick<Task, 'id'>, file: LinkedFile): ContentLinkView {
    const latest = this.clock.nowSeconds() + this.config.contentLinkTtlSeconds;
    const expiresAt = Math.min(latest, file.expiresAt);
    return { url: this.urlOf(task, { ...file, expiresAt }), expires_at: expiresAt };
  }

  /** Whether this signature is valid and the link has not expired. Each key is compared in constant time. */
  isGood(publicId: string, expires: unknown, signature: unknown): boolean {
    if (typeof expires !== 'string' || !EXPIRES.test(expires)) return false;
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
    const sent = Buffer.from(signature, 'hex');
    const matches = this.digest
      .of(signed(publicId, expires))
      .filter((digest) => timingSafeEqual(digest, sent));
    return matches.length > 0 && Number(expires) > this.clock.nowSeconds();
  }
}

const signed = (publicId: string, expires: string): string => `${WORD}\n${publicId}\n${expires}`;

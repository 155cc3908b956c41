import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, MoreThan, type Repository } from 'typeorm';
import { GatewayError } from '../common/errors/gateway-error.js';
import { notFound } from '../common/ids/id-params.js';
import { Clock } from '../common/time/clock.js';
import type { ApiKeyRecord } from './api-key-record.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type IssuedKey, type KeyTerms } from './api-keys.service.js';
import { INVALID_TOKEN_MESSAGE } from './bearer.guard.js';

/** Most live keys that one key has made. */
const MAX_LIVE = 100;

/**
 * The keys that a key makes (API: GET /v1/keys). Each change locks its maker first, so that a maker that ends or loses a
 * term leaves no key behind that has more. A maker that has ended meanwhile is 401 `invalid_token`.
 */
@Injectable()
export class MadeKeys {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clock: Clock,
    private readonly service: ApiKeysService,
  ) {}

  /** Makes a key with the terms that follow from those of its maker. Throws 409 `conflict` above 100 live ones. */
  make(makerId: string, termsOf: (maker: ApiKeyRecord) => KeyTerms): Promise<IssuedKey> {
    return this.withMaker(makerId, async (maker, keys) => {
      const terms = termsOf(maker);
      const now = new Date(this.clock.nowMs());
      const live = { makerId, revokedAt: IsNull() };
      const count = await keys.countBy([
        { ...live, expiresAt: IsNull() },
        { ...live, expiresAt: MoreThan(now) },
      ]);
      if (count >= MAX_LIVE) {
        const message = `This key has made ${MAX_LIVE} keys that are live. Revoke one of them first.`;
        throw new GatewayError('conflict', message);
      }
      return this.service.within(keys).issue(maker.accountId, terms, makerId);
    });
  }

  /**
   * Changes the maker itself, or a key that it made. `termsOf` gets the key and its maker. Throws 404 for a key of no or of
   * another account, 403 for one that somebody else made, 409 for a revoked one.
   */
  update(
    makerId: string,
    id: string,
    termsOf: (present: ApiKeyRecord, maker: ApiKeyRecord) => Partial<KeyTerms>,
  ): Promise<ApiKeyRecord> {
    return this.withMaker(makerId, async (maker, keys) => {
      await this.owned(maker, id, keys);
      const service = this.service.within(keys);
      const key = await service.update(id, (present) => termsOf(present, maker));
      if (key === 'revoked') throw new GatewayError('conflict', 'The key is revoked.');
      if (key === undefined) throw notFound('key');
      return key;
    });
  }

  /** Revokes a key that the maker made; a second time changes nothing. Throws as `update`, and 403 for the maker itself. */
  async revoke(makerId: string, id: string): Promise<void> {
    await this.withMaker(makerId, async (maker, keys) => {
      await this.owned(maker, id, keys);
      if (id === makerId) throw denied('A key cannot revoke itself.');
      await this.service.within(keys).revoke(id);
    });
  }

  private async owned(maker: ApiKeyRecord, id: string, keys: Repository<ApiKey>): Promise<void> {
    const key = await keys.findOneBy({ id, accountId: maker.accountId });
    if (key === null) throw notFound('key');
    if (key.makerId !== maker.id && id !== maker.id) {
      throw denied(
        'Somebody else made this key. A key changes and revokes only keys that it made.',
      );
    }
  }

  private withMaker<T>(
    makerId: string,
    work: (maker: ApiKeyRecord, keys: Repository<ApiKey>) => Promise<T>,
  ): Promise<T> {
    return this.keys.manager.transaction(async (manager) => {
      const keys = manager.withRepository(this.keys);
      const maker = await keys.findOne({
        where: { id: makerId, revokedAt: IsNull() },
        lock: { mode: 'pessimistic_write' },
      });
      if (maker === null) {
        throw new GatewayError('invalid_token', INVALID_TOKEN_MESSAGE, { param: 'Authorization' });
      }
      return work(maker, keys);
    });
  }
}

function denied(message: string): GatewayError {
  return new GatewayError('permission_denied', message);
}

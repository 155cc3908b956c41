import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';

const KEEP = `
  INSERT INTO topup_page AS p (url) VALUES ($1)
  ON CONFLICT (is_only) DO UPDATE SET url = excluded.url WHERE p.url IS DISTINCT FROM excluded.url`;

/**
 * Keeps `TOPUP_URL` in the database, where the events of accounts are written and the keys of callers are looked up. So an event
 * has the same address whichever process causes it.
 */
@Injectable()
export class TopUpPage implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'topUpUrl'>,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.dataSource.query(KEEP, [this.config.topUpUrl ?? null]);
  }
}

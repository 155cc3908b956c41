import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** Processes of version 0.1.0 that live: those of later versions say their version. */
const FORMER =
  'SELECT EXISTS (SELECT FROM gateway_process WHERE version IS NULL AND lease_until > now()) AS lives';
const RETRY_AFTER_SECONDS = 30;

/** Refuses tasks of kinds that a process of version 0.1.0 does not know while one lives: it fails where it lists them. */
@Injectable()
export class FormerProcesses {
  constructor(private readonly dataSource: DataSource) {}

  /** Throws 503 that names `param`, what the caller asks. */
  async refuse(param: string): Promise<void> {
    const [row] = await this.dataSource.query<{ lives: boolean }[]>(FORMER);
    if (row?.lives !== true) return;
    const message = `${param} cannot be used while the gateway is being upgraded from version 0.1.0. Try again later, or leave ${param} out.`;
    throw new GatewayError('service_unavailable', message, {
      param,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Readiness } from './readiness.js';

/** What a probe is told. */
class HealthView {
  @ApiProperty({
    enum: ['live', 'ready', 'unavailable'],
    description:
      'State of the process: `live` while it runs, `ready` while it serves, else `unavailable`',
  })
  status!: 'live' | 'ready' | 'unavailable';
}

/** Liveness and readiness for orchestrators. */
@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @ApiOperation({
    summary: 'The process is up',
    description:
      'Answers as long as the process runs, without asking the database. For the liveness probe of an orchestrator.',
  })
  @ApiResponse({ status: 200, type: HealthView, example: { status: 'live' } })
  checkLive(): HealthView {
    return { status: 'live' };
  }

  @Get('ready')
  @ApiOperation({
    summary: 'The database is reachable and migrated; 503 while starting or draining',
    description:
      'Answers 200 when the gateway can take calls. A load balancer sends no calls while it answers 503.',
  })
  @ApiResponse({ status: 200, type: HealthView, example: { status: 'ready' } })
  @ApiResponse({ status: 503, type: HealthView, example: { status: 'unavailable' } })
  async checkReady(@Res({ passthrough: true }) response: Response): Promise<HealthView> {
    if (await this.readiness.isReady()) return { status: 'ready' };
    response.status(HttpStatus.SERVICE_UNAVAILABLE).setHeader('Retry-After', '1');
    return { status: 'unavailable' };
  }
}

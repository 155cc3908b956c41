import { Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Request } from 'express';
import { NeedsRole } from '../auth/operators/role.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import type { PausableRoute } from '../providers/routing/route-pause-store.js';
import { RoutePauseBody } from './dto/admin.bodies.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { OperatorProviders } from './operator-providers.js';
import {
  PausedRouteView,
  ProbeView,
  viewPausedRoute,
  viewProbe,
} from './views/paused-route.view.js';
import { ProviderPage, viewProviders } from './views/provider.view.js';

const EXAMPLES = {
  hour: { reason: 'their status page says that they fail' },
  until: { reason: 'maintenance', expires_at: 1_800_000_000 },
};
const PAUSES =
  'New calls and tasks pass over a paused route, in every process within seconds and over restarts; what runs goes on, and tasks that wait for their submission go on waiting. A model whose routes are all paused answers 503 `provider_unavailable` before anything is held. A second pause replaces the first.';
const RESUMES = 'Work goes there again within seconds. Without a pause nothing happens.';
const PROBES =
  'One request that costs nothing, with the first key, at most 10 seconds: the list of models; at TTAPI a job that does not exist. A failure is told in the answer, and is no error of this call. Breakers and pauses stay as they are.';

/** How providers do, and pausing and probing their routes (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin/providers')
export class ProvidersController {
  constructor(private readonly providers: OperatorProviders) {}

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary:
      'Providers and their routes: attempts, errors, latencies, breakers, keys, cost, pauses',
    description:
      'Attempts of the last hour in all running processes; a process tells its own every ten seconds. All providers are on one page.',
  })
  @ApiOkResponse({ type: ProviderPage })
  async listProviders() {
    return viewProviders(await this.providers.list());
  }

  @Post(':provider/pause')
  @NeedsRole('admin')
  @HttpCode(200)
  @TakesJson()
  @BodyExamples(RoutePauseBody, EXAMPLES)
  @ApiOperation({ summary: 'Pause all routes of a provider', description: PAUSES })
  @ApiOkResponse({ type: PausedRouteView })
  pauseProvider(
    @Param('provider') provider: string,
    @StrictBody() body: RoutePauseBody,
    @Req() request: Request,
  ) {
    return this.pause({ provider, upstreamModel: null }, body, request);
  }

  @Delete(':provider/pause')
  @NeedsRole('admin')
  @ApiOperation({ summary: 'End the pause of a provider', description: RESUMES })
  @ApiOkResponse({ type: PausedRouteView })
  resumeProvider(@Param('provider') provider: string) {
    return this.resume({ provider, upstreamModel: null });
  }

  @Post(':provider/probe')
  @NeedsRole('admin')
  @HttpCode(200)
  @ApiOperation({ summary: 'Ask a provider whether it answers', description: PROBES })
  @ApiOkResponse({ type: ProbeView })
  async probeProvider(@Param('provider') provider: string) {
    return viewProbe(await this.providers.probe({ provider, upstreamModel: null }));
  }

  @Post(':provider/:route/pause')
  @NeedsRole('admin')
  @HttpCode(200)
  @TakesJson()
  @BodyExamples(RoutePauseBody, EXAMPLES)
  @ApiOperation({ summary: 'Pause a route', description: PAUSES })
  @ApiOkResponse({ type: PausedRouteView })
  pauseRoute(
    @Param('provider') provider: string,
    @Param('route') upstreamModel: string,
    @StrictBody() body: RoutePauseBody,
    @Req() request: Request,
  ) {
    return this.pause({ provider, upstreamModel }, body, request);
  }

  @Delete(':provider/:route/pause')
  @NeedsRole('admin')
  @ApiOperation({ summary: 'End the pause of a route', description: RESUMES })
  @ApiOkResponse({ type: PausedRouteView })
  resumeRoute(@Param('provider') provider: string, @Param('route') upstreamModel: string) {
    return this.resume({ provider, upstreamModel });
  }

  @Post(':provider/:route/probe')
  @NeedsRole('admin')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Ask a provider whether it answers and has a model',
    description: PROBES,
  })
  @ApiOkResponse({ type: ProbeView })
  async probeRoute(@Param('provider') provider: string, @Param('route') upstreamModel: string) {
    return viewProbe(await this.providers.probe({ provider, upstreamModel }));
  }

  private async pause(route: PausableRoute, body: RoutePauseBody, { operator }: Request) {
    const by = operator?.person ?? operator?.actor ?? '';
    return viewPausedRoute(route, await this.providers.pause(route, body, by));
  }

  private async resume(route: PausableRoute) {
    await this.providers.resume(route);
    return viewPausedRoute(route, null);
  }
}

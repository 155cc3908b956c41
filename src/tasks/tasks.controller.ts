import { Controller, Get, Headers, HttpCode, Next, Param, Post, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { NextFunction, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { NeedsScope } from '../auth/scope.guard.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { type PageView, viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { TasksQuery } from './dto/tasks.query.js';
import { TaskCancellation } from './completion/task-cancellation.js';
import { TaskKinds } from './task-kinds.js';
import { TaskEvents } from './reads/task-events.js';
import { TaskStateView } from './task-event.view.js';
import { type WaitPreference, TasksService } from './reads/tasks.service.js';
import { ANY_TASK, TaskPage, TaskView, withoutContent } from './task.view.js';
import { setWaitHeaders, Wait, WAIT_HEADERS } from './wait.decorator.js';

const EVENTS_EXAMPLE = `id: processing-40
event: progress
data: {"id":"task_0193a5e2f0c47b1d8e6f5a4b3c2d1e0f","object":"task_state","status":"processing","progress":40}

`;

/** Tasks of the caller's account, of every kind. */
@ApiTags('tasks')
@ApiExtraModels(TaskView, TaskStateView)
@ApiKeyAuth('call')
@Controller('v1/tasks')
export class TasksController {
  constructor(
    private readonly reads: TasksService,
    private readonly kinds: TaskKinds,
    private readonly cancellation: TaskCancellation,
    private readonly events: TaskEvents,
  ) {}

  @Get()
  @NeedsScope('read')
  @ApiOperation({
    summary: 'List tasks, newest first',
    description:
      'Videos appear as GET /v1/tasks/{id} gives them. A page ends early where results are large.',
  })
  @ApiOkResponse({ type: TaskPage })
  @ErrorResponses('invalid_request')
  async listTasks(
    @CurrentCaller() caller: Caller,
    @StrictQuery() query: TasksQuery,
  ): Promise<PageView<object>> {
    return viewPage(await this.reads.list(caller, query), (task) => {
      const view = this.kinds.viewOf(task);
      return caller.isWithoutKey ? withoutContent(view) : view;
    });
  }

  @Get(':id')
  @ApiOperation({
    summary: 'One task',
    description:
      'Poll every 10 to 20 seconds until a final status, wait with Prefer, or use a webhook.',
  })
  @ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`wait=N`: answer when the task is final or N seconds (1 to 60) are over',
  })
  @ApiOkResponse({ schema: ANY_TASK, headers: WAIT_HEADERS })
  @ErrorResponses('task_not_found')
  async retrieveTask(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Wait() preference: WaitPreference | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const awaited = await this.reads.getAfterWait(caller, id, preference);
    return this.kinds.viewOf(setWaitHeaders(response, awaited));
  }

  @Get(':id/events')
  @ApiOperation({
    summary: 'The progress of a task as server-sent events',
    description:
      'First the present state (`status`), then each change of it (`status`, `progress`), at the end the whole task (`end`). The stream also ends after ten minutes and when the gateway stops: connect again. It ends within 2 s when the key may read no more. What a client did not read in time is told as one change.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description:
      'The id of the last event that the client knows; if it was the end, the answer is 204',
  })
  @ApiOkResponse({
    description: 'The events',
    content: {
      'text/event-stream': {
        schema: { anyOf: [{ $ref: getSchemaPath(TaskStateView) }, ...ANY_TASK.oneOf] },
        example: EVENTS_EXAMPLE,
      },
    },
  })
  @ApiNoContentResponse({ description: 'The client knows the end: browsers do not come again' })
  @ErrorResponses('task_not_found', 'rate_limit_exceeded', 'service_unavailable')
  streamTaskEvents(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Headers('Last-Event-ID') lastEventId: string | undefined,
    @Res() response: Response,
    @Next() next: NextFunction,
  ): void {
    // Not awaited, as streams of text.
    void this.events.send(caller, id, lastEventId, response).catch(next);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel a task that was not sent to its provider yet',
    description:
      'Its hold is released and nothing is charged. A task that is already with its provider answers 409 and goes on.',
  })
  @ApiOkResponse({ schema: ANY_TASK })
  @ErrorResponses('task_not_found', 'task_not_cancellable')
  async cancelTask(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<object> {
    return this.kinds.viewOf(await this.cancellation.cancel(caller, id));
  }
}

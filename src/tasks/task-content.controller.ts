import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { setSandboxHeader } from '../platform/http-server/responses/gateway-headers.js';
import { sendStoredFile } from '../platform/storage/send-stored-file.js';
import {
  ContentEndpoint,
  type ContentReader,
  CurrentReader,
} from './content-links/content-endpoint.decorator.js';
import { ContentLinkView } from './content-links/content-link.view.js';
import { ContentLinks } from './content-links/content-links.js';
import { TaskContents } from './reads/task-contents.js';

const BINARY = { schema: { type: 'string', format: 'binary' } };
/** Types of dubs, by their sources; a file of any other has the last one. */
const FILES = {
  'audio/mpeg': BINARY,
  'video/mp4': BINARY,
  'application/octet-stream': BINARY,
};

/** The files of tasks other than videos, and links to them. */
@ApiTags('tasks')
@Controller('v1/tasks')
export class TaskContentController {
  constructor(
    private readonly contents: TaskContents,
    private readonly links: ContentLinks,
  ) {}

  @Get(':id/content')
  @ContentEndpoint()
  @ApiOperation({
    summary: 'Download the file of a task',
    description:
      'The audio or video that the task made, with its own content type. Takes `Range`, `If-Range` and HEAD.',
  })
  @ApiOkResponse({ description: 'The file', content: FILES })
  @ApiResponse({
    status: 206,
    description: 'The range',
    content: FILES,
  })
  async retrieveTaskContent(
    @CurrentReader() reader: ContentReader,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { file, filename, task } = await this.contents.find(reader, id);
    setSandboxHeader(response, task.onSandbox);
    await sendStoredFile(request, response, file, { filename });
  }

  @Post(':id/content-link')
  @ApiKeyAuth('call')
  @HttpCode(200)
  @ApiOperation({
    summary: 'A link to the file of a task',
    description: 'The link is good without a key until it expires, for GET and HEAD.',
  })
  @ApiOkResponse({ type: ContentLinkView })
  @ErrorResponses('task_not_found', 'content_not_available', 'task_not_ready', 'content_expired')
  async createTaskContentLink(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
  ): Promise<ContentLinkView> {
    const { task, expiresAt } = await this.contents.find(caller, id);
    return this.links.temporary(task, { surface: 'tasks', expiresAt });
  }
}

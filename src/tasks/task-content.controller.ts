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
const JSON_ANSWER = {
  schema: { type: 'object' },
  example: {
    text: 'Hello, who is there?',
    language: 'eng',
    language_probability: 0.98,
    duration_seconds: 1.9,
  },
};
/** Types of dubs, by their sources, and of the answers of calls; a file of any other has the last one. */
const FILES = {
  'audio/mpeg': BINARY,
  'audio/ogg': BINARY,
  'audio/pcm': BINARY,
  'audio/wav': BINARY,
  'video/mp4': BINARY,
  'application/json': JSON_ANSWER,
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
      'What the task made, with its own content type: audio, video, or the JSON answer of a call. Takes `Range`, `If-Range` and HEAD.',
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

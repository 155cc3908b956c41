import { Controller, Next, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  getSchemaPath,
} from '@nestjs/swagger';
import type { NextFunction, Response } from 'express';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { TextEndpoint } from '../admission/call-endpoint.decorators.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { type OpenBody, OpenBodyOf, STRICT_HEADERS } from '../common/validation/open-body.js';
import { BodyLimit } from '../platform/http-server/request-body/json-body.guard.js';
import {
  CHARGE_HEADERS,
  IGNORED_FIELDS_HEADERS,
  OUTPUT_CAP_HEADERS,
  sendCharged,
  STORED_HEADERS,
} from '../platform/http-server/responses/gateway-headers.js';
import { RESPONSE_EXAMPLES } from './dto/response-examples.js';
import { RESPONSE_SCHEMAS } from './dto/response-items.schema.js';
import { EVENT_EXAMPLE, ResponseEventView, ResponseView } from './dto/response.view.js';
import { ResponsesBody } from './dto/responses.body.js';
import { ResponsesService } from './responses.service.js';

/** A conversation with its images is part of the body. */
export const RESPONSES_BODY_BYTES = 32 * 1024 * 1024;

/** Responses: text with a stored conversation. */
@ApiExtraModels(ResponseView, ResponseEventView, ...RESPONSE_SCHEMAS)
@Controller()
export class ResponsesController {
  constructor(private readonly responses: ResponsesService) {}

  @TextEndpoint('/v1/responses', 'previous_response_not_found')
  @BodyLimit(RESPONSES_BODY_BYTES)
  @BodyExamples(ResponsesBody, RESPONSE_EXAMPLES)
  @ApiHeader(STRICT_HEADERS)
  @ApiOperation({
    summary: 'Text with tools, and with conversations that are stored',
    description:
      'One JSON object, or with `stream` server-sent events that end with `data: [DONE]`. ' +
      'A stream that breaks ends with the events `error` and `response.failed` and is not charged. ' +
      'Fields that nobody knows are left out and named in `x-gateway-ignored-fields`.',
  })
  @ApiOkResponse({
    description: 'The response',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(ResponseView) } },
      'text/event-stream': {
        schema: {
          oneOf: [{ $ref: getSchemaPath(ResponseEventView) }, { type: 'string', enum: ['[DONE]'] }],
        },
        example: EVENT_EXAMPLE,
      },
    },
    headers: {
      ...CHARGE_HEADERS,
      ...IGNORED_FIELDS_HEADERS,
      ...OUTPUT_CAP_HEADERS,
      ...STORED_HEADERS,
    },
  })
  createResponse(
    @Call() call: AdmittedCall<'chat'>,
    @OpenBodyOf(ResponsesBody) sent: OpenBody<ResponsesBody>,
    @Res() response: Response,
    @Next() next: NextFunction,
  ): Promise<void> | undefined {
    // The stream is not awaited: a promise that Nest and Express await keeps 1.5 kB in memory for each open stream.
    return sent.body.stream
      ? void this.responses.stream(call, sent, response).catch(next)
      : sendCharged(response, this.responses.answer(call, sent, response));
  }
}

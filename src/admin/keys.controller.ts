import { Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { BodyOptional } from '../platform/http-server/request-body/json-body.guard.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody, ClearedFields } from '../common/validation/strict-body.pipe.js';
import { UpdateKeyBody } from '../auth/dto/key-terms.body.js';
import { RotateKeyBody } from './dto/admin.bodies.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { OperatorKeys } from './operator-keys.js';
import { ApiKeyView, IssuedKeyView, viewIssuedKey, viewKey } from '../auth/api-key.view.js';

/** Keys by their id: terms, revocation, rotation (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin/keys')
export class KeysController {
  constructor(private readonly keys: OperatorKeys) {}

  @Get(':id')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'One key',
    description:
      'Its limits, what it has spent and when it was last used. The text of a key is never shown again.',
  })
  @ApiOkResponse({ type: ApiKeyView })
  async retrieveAdminKey(@Param('id') id: string) {
    return viewKey(await this.keys.get(id));
  }

  @Patch(':id')
  @NeedsRole('support')
  @TakesJson()
  @BodyExamples(UpdateKeyBody, { limit: { requests_per_minute: 1200 } })
  @ApiOperation({
    summary: 'Change the terms of a key',
    description: 'What is absent stays, null clears. Holds on every replica within 2 s.',
  })
  @ApiOkResponse({ type: ApiKeyView })
  async updateAdminKey(
    @Param('id') id: string,
    @StrictBody() body: UpdateKeyBody,
    @ClearedFields() cleared: ReadonlySet<string>,
  ) {
    return viewKey(await this.keys.update(id, body, cleared));
  }

  @Delete(':id')
  @NeedsRole('support')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Revoke a key; refused on every replica within 2 s',
    description:
      'There is no way back: issue another key instead. Calls that are under way are finished.',
  })
  @ApiNoContentResponse()
  revokeAdminKey(@Param('id') id: string): Promise<void> {
    return this.keys.revoke(id);
  }

  @Post(':id/rotate')
  @NeedsRole('support')
  @TakesJson()
  @BodyOptional()
  @BodyExamples(RotateKeyBody, { overlap: { overlap_seconds: 60 } })
  @ApiOperation({
    summary: 'Issue a successor; the old key dies after the overlap',
    description: 'In its overlap a key cannot be rotated again: 409 names its successor.',
  })
  @ApiCreatedResponse({ type: IssuedKeyView })
  async rotateKey(@Param('id') id: string, @StrictBody() body: RotateKeyBody) {
    return viewIssuedKey(await this.keys.rotate(id, body.overlap_seconds));
  }
}

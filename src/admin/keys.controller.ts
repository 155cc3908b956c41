import { Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOperation } from '@nestjs/swagger';
import { BodyOptional } from '../common/http/json-body.guard.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { RotateKeyBody } from './dto/admin.bodies.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { OperatorService } from './operator.service.js';
import { IssuedKeyView, viewIssuedKey } from './views/api-key.view.js';

/** Revocation and rotation of keys (interface: Operator API). */
@OperatorEndpoint()
@Controller('admin/keys')
export class KeysController {
  constructor(private readonly operator: OperatorService) {}

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke a key; refused on every replica within 2 s' })
  @ApiNoContentResponse()
  revoke(@Param('id') id: string): Promise<void> {
    return this.operator.revokeKey(id);
  }

  @Post(':id/rotate')
  @TakesJson()
  @BodyOptional()
  @ApiOperation({ summary: 'Issue a successor; the old key dies after the overlap' })
  @ApiCreatedResponse({ type: IssuedKeyView })
  async rotate(@Param('id') id: string, @StrictBody() body: RotateKeyBody) {
    return viewIssuedKey(await this.operator.rotateKey(id, body.overlap_seconds));
  }
}

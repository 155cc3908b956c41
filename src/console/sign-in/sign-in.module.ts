import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { ConsoleRequests } from './console-requests.js';
import { OwnPageGuard } from './own-page.guard.js';
import { PageOrigins } from './page-origin.js';
import { IdentityProvider } from './identity-provider.js';
import { OidcController } from './oidc.controller.js';
import { OidcSignIn } from './oidc-sign-in.js';
import { SessionController } from './session.controller.js';
import { SignInRate } from './sign-in-rate.js';
import { SignInService } from './sign-in.service.js';

/** Signing in to the console, and the calls of its page. */
@Module({
  imports: [AuthModule],
  controllers: [SessionController, OidcController],
  providers: [
    PageOrigins,
    OwnPageGuard,
    ConsoleRequests,
    SignInRate,
    SignInService,
    IdentityProvider,
    OidcSignIn,
  ],
})
export class SignInModule {}

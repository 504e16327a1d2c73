/** Compiled with the rest of the tests: the contract and what we export are assignable both ways, or `npm run types` fails. */
import type * as Ours from '../../src/index.ts'
import type * as OurTesting from '../../src/testing/index.ts'
import type * as Api from './api.d.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : { missing: B }) : { missing: A }
const same = <T extends true>(..._proof: T[]): void => {}

same<Same<Api.Target, Ours.Target>>()
same<Same<Api.Jump, Ours.Jump>>()
same<Same<Api.Identity, Ours.Identity>>()
same<Same<Api.StaticIdentity, Ours.StaticIdentity>>()
same<Same<Api.HostKeyPolicy, Ours.HostKeyPolicy>>()
same<Same<Api.TransportName, Ours.TransportName>>()
same<Same<Api.Remote, Ours.Remote>>()
same<Same<Api.Listen, Ours.Listen>>()
same<Same<Api.ForwardSpec, Ours.ForwardSpec>>()
same<Same<Api.Forwards, Ours.Forwards>>()
same<Same<Api.Forward, Ours.Forward>>()
same<Same<Api.Standing, Ours.Standing>>()
same<Same<Api.AddressOf<Api.LocalForward>, Ours.AddressOf<Ours.LocalForward>>>()
same<Same<Api.AcquireOptions, Ours.AcquireOptions>>()
same<Same<Api.Lease, Ours.Lease>>()
same<Same<Api.ExecResult, Ours.ExecResult>>()
same<Same<Api.TunnelSocket, Ours.TunnelSocket>>()
same<Same<Api.PoolOptions, Ours.PoolOptions>>()
same<Same<Api.Logger, Ours.Logger>>()
same<Same<Api.TunnelPool, Ours.TunnelPool>>()
same<Same<Api.InspectedEvent, Ours.InspectedEvent>>()
same<Same<Api.Health, Ours.Health>>()
same<Same<Api.PoolStats, Ours.PoolStats>>()
same<Same<Api.PoolReport, Ours.PoolReport>>()
same<Same<Api.LedgerEntry, Ours.LedgerEntry>>()
same<Same<Api.PoolFacts, Ours.PoolFacts>>()
same<Same<Api.TunnelErrorCode, Ours.TunnelErrorCode>>()
same<Same<Api.TunnelError, Ours.TunnelError>>()
same<Same<ConstructorParameters<typeof Api.TunnelError>, ConstructorParameters<typeof Ours.TunnelError>>>()
same<Same<typeof Api.createTunnelPool, typeof Ours.createTunnelPool>>()
same<Same<Api.FleetHost, OurTesting.FleetHost>>()
same<Same<Api.Fleet, OurTesting.Fleet>>()
same<Same<Api.Census, OurTesting.Census>>()
same<Same<typeof Api.startFleet, typeof OurTesting.startFleet>>()
same<Same<typeof Api.census, typeof OurTesting.census>>()
same<Same<typeof Api.assertNoLeaks, typeof OurTesting.assertNoLeaks>>()

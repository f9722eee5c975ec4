-------------------------- MODULE KiplabPartition --------------------------
(***************************************************************************)
(* One Kafka partition as the explorer's level "partition" cuts it: a      *)
(* KRaft controller, the brokers with a replica, AlterPartition requests   *)
(* that may be slow, metadata that may lag.  Written from the KIPs and     *)
(* from the definition of a state in kiplab/explore/levels/levels.toml,    *)
(* to judge the explorer: TLC has to count the same states and to find     *)
(* ways to lose data that are as short.                                    *)
(*                                                                         *)
(* The rules are those of Kafka 3.5.  A process of a broker is numbered    *)
(* 1, 2, ... (its life), and the number stands wherever Kafka has the      *)
(* broker epoch.  Whatever a CONSTANT does not switch is always on:        *)
(*   KIP-497  a request counts only under the broker epoch that its sender *)
(*            is registered under, and only from the leader of the present *)
(*            leader epoch;                                                *)
(*   KIP-320  a fetch and its leader have to agree on the leader epoch;    *)
(*   KIP-595  a fetch names the latest epoch of its log, and where the     *)
(*            logs part the follower is told to truncate.                  *)
(***************************************************************************)
EXTENDS Naturals, Integers, Sequences, FiniteSets, TLC

CONSTANTS
    Brokers,        \* ids from 1 on; replicas are assigned in this order, and 1 leads at first
    InitialIsr,     \* who is in sync at first; every log is empty
    Writes,         \* how many records may be written
    Crashes,        \* how many processes may die, each with its disk
    Fences          \* how many sessions may end although their broker runs

(* Guards: each is one sentence of a KIP (or of a bug fix), and can be switched off. *)
CONSTANTS
    FencedRefused,              \* KIP-841, controller: a fenced broker may not join the ISR
    FencedSkipped,              \* KIP-841, leader: nobody who is fenced in its metadata is proposed
    EpochsRefused,              \* KIP-903, controller: every member is named by its present epoch
    EpochsCompared,             \* KIP-903, leader: last fetch and metadata name the same epoch
    EpochsFetched,              \* KIP-903, follower: a fetch carries the broker epoch (version 15)
    PartitionEpochChecked,      \* KIP-497: compare and set on the partition epoch
    MaximalIsr,                 \* KIP-497: while an ISR is proposed, the larger set has to have it
    PendingOutlivesMetadata,    \* KIP-497 as written: metadata of the partition epoch that a
                                \* proposal was made against does not undo it. Kafka never built it.
    EpochStartReached,          \* KAFKA-7128: who joins has reached the start of the leader epoch
    FencingFirst                \* KIP-631: a new process is registered once the old one is fenced

VARIABLES
    \* The controller.
    fenced,             \* brokers without a session
    leader,             \* the elected leader, or Nobody
    leaderEpoch,
    partitionEpoch,
    isr,
    \* Brokers.
    life,               \* the number of the newest process; it is the registered one
    log,                \* what is on the disk
    role,               \* what the process makes of the partition
    \* The network.
    requests,           \* AlterPartition in flight
    \* What somebody knows who sees every disk.
    committed,          \* the records that were ever committed, as a log
    isrLives,           \* the life in which each member of the ISR caught up
    damaged,            \* members of the ISR that died and lost what was committed
    excused,            \* whether all members were damaged: then nobody could have kept the records
    \* What is left of the bounds.
    writes, crashes, fences

controller == <<fenced, leader, leaderEpoch, partitionEpoch, isr>>
budgets == <<writes, crashes, fences>>
vars == <<controller, life, log, role, requests, committed, isrLives, damaged, excused, budgets>>

Nobody == 0
Others(b) == Brokers \ {b}
Min(numbers) == CHOOSE n \in numbers : \A other \in numbers : n <= other

----------------------------------------------------------------------------
(* Logs.  A record is named by its offset and the leader epoch it was written under, so a log is
   its leader-epoch cache, a sequence of (epoch, at), and the offset of the next record.  A leader
   notes its epoch before it writes: the last entry may start at the end. *)

EmptyLog == [entries |-> <<>>, end |-> 0]

Below(entries, offset) == LET Is(entry) == entry.at < offset IN SelectSeq(entries, Is)
LastOf(entries) == entries[Len(entries)]

(* The epoch of the record at an offset, -1 if there is none. *)
EpochAt(l, offset) ==
    LET found == Below(l.entries, offset + 1) IN
    IF found = <<>> THEN -1 ELSE LastOf(found).epoch

(* The last epoch noted: perhaps one that was led without a record.  A fetch names it. *)
LatestEpoch(l) == IF l.entries = <<>> THEN -1 ELSE LastOf(l.entries).epoch

(* Epochs that ended without a record leave no trace. *)
WithEpochStart(l, epoch) ==
    IF l.entries /= <<>> /\ LastOf(l.entries).epoch >= epoch THEN l
    ELSE [l EXCEPT !.entries = Append(Below(@, l.end), [epoch |-> epoch, at |-> l.end])]

Written(l, epoch) == [WithEpochStart(l, epoch) EXCEPT !.end = @ + 1]

(* An epoch noted at the end goes, whatever the offset is. *)
Truncated(l, offset) ==
    LET end == Min({offset, l.end}) IN [entries |-> Below(l.entries, end), end |-> end]

(* The records below an offset, without an epoch that has none. *)
Prefix(l, end) == [entries |-> Below(l.entries, end), end |-> end]

(* A log after the records of another one, from its own end on, were appended. *)
RECURSIVE Joined(_, _)
Joined(mine, theirs) ==
    IF theirs = <<>> THEN mine
    ELSE LET first == Head(theirs)
             kept == Below(mine, first.at)
         IN Joined(IF kept /= <<>> /\ LastOf(kept).epoch = first.epoch
                   THEN kept ELSE Append(kept, first),
                   Tail(theirs))

Extended(mine, theirs) ==
    IF theirs.end <= mine.end THEN mine
    ELSE LET Later(entry) == mine.end < entry.at /\ entry.at < theirs.end
             read == <<[epoch |-> EpochAt(theirs, mine.end), at |-> mine.end]>>
                     \o SelectSeq(theirs.entries, Later)
         IN [entries |-> Joined(mine.entries, read), end |-> theirs.end]

(* KIP-320: where an epoch ends in a log. *)
KnowsEpoch(l, epoch) == \E i \in 1..Len(l.entries) : l.entries[i].epoch >= epoch

EndOfEpoch(l, epoch) ==
    IF LastOf(l.entries).epoch = epoch THEN [epoch |-> epoch, at |-> l.end]
    ELSE LET NotAbove(entry) == entry.epoch <= epoch
             Above(entry) == entry.epoch > epoch
             low == SelectSeq(l.entries, NotAbove)
         IN [epoch |-> IF low = <<>> THEN epoch ELSE LastOf(low).epoch,
             at |-> Head(SelectSeq(l.entries, Above)).at]

(* KIP-279: where both logs end the epoch; a log without it is cut where the epoch before ends. *)
CutAt(l, theirs) ==
    IF ~KnowsEpoch(l, theirs.epoch) THEN theirs.at
    ELSE LET mine == EndOfEpoch(l, theirs.epoch)
         IN IF mine.epoch = theirs.epoch THEN Min({mine.at, theirs.at}) ELSE mine.at

Holds(l, records) ==
    /\ l.end >= records.end
    /\ \A offset \in 0..(records.end - 1) : EpochAt(l, offset) = EpochAt(records, offset)

----------------------------------------------------------------------------
(* What a process makes of the partition. *)

Down == [kind |-> "down", hwm |-> 0]

Follower(of, epoch, hwm) == [kind |-> "follower", leader |-> of, epoch |-> epoch, hwm |-> hwm]

IsUp(b) == role[b].kind /= "down"
Leads(b) == role[b].kind = "leader"

(* The members that a leader's high watermark waits for.  `sent` is {} or the request whose ISR is
   pending; it stays after a refusal that the leader cannot learn from. *)
Proposed(r) == UNION {DOMAIN request.members : request \in r.sent}
Counted(r) == IF MaximalIsr THEN r.isr \union Proposed(r) ELSE r.isr

(* A leader's role after it looked at its high watermark, which never goes back. *)
Advanced(r, l) ==
    LET counted == Counted(r) \intersect DOMAIN r.remotes
        lowest == Min({l.end} \union {r.remotes[b].end : b \in counted})
    IN IF lowest > r.hwm THEN [r EXCEPT !.hwm = lowest] ELSE r

(* The others as the controller's newest metadata shows them. *)
Shown(b) == [other \in Others(b) |-> [life |-> life[other], fenced |-> other \in fenced]]

(* Lead as the metadata says.  The committed ISR is installed, and Kafka forgets a pending one even
   if the metadata is no newer than the leader: an answer to AlterPartition may have been faster.
   What is known of followers outlives a leader epoch, but not a time as a follower. *)
Leading(b, r, l) ==
    LET led == r.kind = "leader"
        same == led /\ r.epoch = leaderEpoch
        keeps == PendingOutlivesMetadata /\ same /\ r.partitionEpoch = partitionEpoch
    IN [kind |-> "leader",
        epoch |-> leaderEpoch,
        partitionEpoch |-> partitionEpoch,
        hwm |-> Min({r.hwm, l.end}),
        start |-> IF same THEN r.start ELSE l.end,
        isr |-> IF keeps THEN r.isr ELSE isr,
        sent |-> IF keeps THEN r.sent ELSE {},
        remotes |-> IF led THEN r.remotes
                    ELSE [other \in Others(b) |-> [end |-> -1, life |-> 0]],
        view |-> Shown(b),
        viewEpoch |-> partitionEpoch]

----------------------------------------------------------------------------
(* What somebody learns who sees every disk. *)

(* A leader `r` of log `l` whose high watermark was `before` may have committed more. *)
Committed(before, r, l) ==
    IF r.hwm > before /\ r.hwm > committed.end THEN Prefix(l, r.hwm) ELSE committed

(* A member counts as damaged when its disk is gone while it is in the ISR and nobody can know
   better.  `known` is what is committed, `died` who lost records in this very step.  To be used
   where all other variables have their next values. *)
Damage(known, died) ==
    LET hit == {m \in isr' : \/ m \in damaged
                             \/ m \in died
                             \/ /\ m \notin fenced'
                                /\ role'[m].kind = "down"
                                /\ ~Holds(log'[m], known)}
    IN /\ damaged' = hit
       /\ excused' = (excused \/ hit = isr')

NoDamage == Damage(committed, {}) /\ UNCHANGED committed

(* After the ISR or the leader changed.  `asked` says under which life a new member was asked for. *)
Membership(asked, elects) ==
    LET kept == [m \in isr' |-> IF m \in DOMAIN isrLives THEN isrLives[m] ELSE asked[m]]
    IN isrLives' = IF elects /\ leader' /= Nobody /\ isr' = {leader'}
                   THEN (leader' :> life[leader']) ELSE kept

----------------------------------------------------------------------------
(* The controller. *)

(* The sitting leader if it may lead on, else the first replica that may. *)
Elected(members, alive) ==
    LET eligible == members \intersect alive
    IN IF leader \in eligible THEN leader
       ELSE IF eligible = {} THEN Nobody ELSE Min(eligible)

(* A record is committed: the partition epoch counts every change, the leader epoch those that name
   a leader.  Up to metadata version 3.6 an ISR that shrinks names the sitting one (KAFKA-15021). *)
Change(members, chosen, named) ==
    /\ isr' = members
    /\ leader' = chosen
    /\ leaderEpoch' = leaderEpoch + (IF named THEN 1 ELSE 0)
    /\ partitionEpoch' = partitionEpoch + 1

(* A session ends.  If the broker runs, that is a fault and costs.  The last member stays in the
   ISR, and then nobody leads. *)
Fence(b) ==
    /\ b \notin fenced
    /\ IF IsUp(b) THEN fences > 0 /\ fences' = fences - 1 ELSE UNCHANGED fences
    /\ fenced' = fenced \union {b}
    /\ IF b \in isr
       THEN LET left == isr \ {b}
                chosen == Elected(left, Brokers \ fenced')
            IN /\ Change(IF left = {} THEN isr ELSE left, chosen, TRUE)
               /\ Membership(isrLives, TRUE)
       ELSE UNCHANGED <<leader, leaderEpoch, partitionEpoch, isr, isrLives>>
    /\ UNCHANGED <<life, log, role, requests, writes, crashes>>
    /\ NoDamage

(* A heartbeat of a broker that runs ends its fencing; a partition without a leader is looked at. *)
Unfence(b) ==
    /\ IsUp(b)
    /\ b \in fenced
    /\ fenced' = fenced \ {b}
    /\ LET chosen == Elected(isr, Brokers \ fenced') IN
       IF leader = Nobody /\ chosen /= Nobody
       THEN Change(isr, chosen, TRUE) /\ Membership(isrLives, TRUE)
       ELSE UNCHANGED <<leader, leaderEpoch, partitionEpoch, isr, isrLives>>
    /\ UNCHANGED <<life, log, role, requests, budgets>>
    /\ NoDamage

(* The broker epoch by which a request names a member, -1 where the leader does not know it. *)
OnWire(request, member) ==
    IF member = request.from \/ (EpochsFetched /\ request.members[member] /= 0)
    THEN request.members[member] ELSE -1

(* KIP-841 and KIP-903: every member is judged, those that were members before, too. *)
Eligible(request) ==
    \A member \in DOMAIN request.members :
        /\ FencedRefused => member \notin fenced
        /\ EpochsRefused => OnWire(request, member) \in {-1, life[member]}

InTime(request) ==
    /\ request.life = life[request.from]
    /\ request.leaderEpoch = leaderEpoch
    /\ request.from = leader
    /\ PartitionEpochChecked => request.partitionEpoch = partitionEpoch

(* The sender hears the answer unless its process is gone, and heeds it unless newer metadata made
   it give up on the request. *)
Heeds(request) ==
    /\ Leads(request.from)
    /\ request.life = life[request.from]
    /\ request \in role[request.from].sent

(* INELIGIBLE_REPLICA lets the leader go back to the committed ISR; after other refusals it waits
   for metadata. *)
Refuse(request) ==
    /\ role' = IF InTime(request) /\ Heeds(request)
               THEN [role EXCEPT ![request.from].sent = {}] ELSE role
    /\ UNCHANGED <<controller, committed, isrLives>>
    /\ Damage(committed, {})

(* The leader adopts the ISR if it still leads in the leader epoch that the answer names. *)
Accept(request) ==
    LET members == DOMAIN request.members
        from == request.from
        chosen == Elected(members, Brokers \ fenced)
        named == chosen /= leader \/ ~(isr \subseteq members)
        asked == [m \in members |->
                    IF request.members[m] = 0 THEN life[m] ELSE request.members[m]]
    IN /\ IF named \/ members /= isr
          THEN Change(members, chosen, named) /\ Membership(asked, named)
          ELSE UNCHANGED <<leader, leaderEpoch, partitionEpoch, isr, isrLives>>
       /\ UNCHANGED fenced
       /\ IF Heeds(request) /\ chosen = leader /\ leaderEpoch' = role[from].epoch
          THEN LET adopted == Advanced([role[from] EXCEPT !.isr = isr',
                                                          !.sent = {},
                                                          !.partitionEpoch = partitionEpoch'],
                                       log[from])
               IN /\ role' = [role EXCEPT ![from] = adopted]
                  /\ committed' = Committed(role[from].hwm, adopted, log[from])
          ELSE UNCHANGED <<role, committed>>
       /\ Damage(committed', {})

(* An AlterPartition request arrives, and its answer does. *)
Deliver(request) ==
    /\ requests' = requests \ {request}
    /\ UNCHANGED <<life, log, budgets>>
    /\ IF InTime(request) /\ Eligible(request) THEN Accept(request) ELSE Refuse(request)

----------------------------------------------------------------------------
(* Brokers. *)

(* A record with acks=all, to whoever leads or believes so. *)
Write(b) ==
    /\ Leads(b)
    /\ writes > 0 /\ writes' = writes - 1
    /\ LET longer == Written(log[b], role[b].epoch)
           after == Advanced(role[b], longer)
       IN /\ log' = [log EXCEPT ![b] = longer]
          /\ role' = [role EXCEPT ![b] = after]
          /\ committed' = Committed(role[b].hwm, after, longer)
    /\ UNCHANGED <<controller, life, requests, isrLives, crashes, fences>>
    /\ Damage(committed', {})

(* Whether a leader would propose a follower that has just fetched. *)
Joins(r, f) ==
    /\ r.sent = {}
    /\ f \notin r.isr
    /\ log[f].end >= r.hwm
    /\ EpochStartReached => log[f].end >= r.start
    /\ FencedSkipped => ~r.view[f].fenced
    /\ EpochsCompared => ~r.view[f].fenced /\ (EpochsFetched => r.view[f].life = life[f])

Request(b, r, f) ==
    [from |-> b,
     life |-> life[b],
     leaderEpoch |-> r.epoch,
     partitionEpoch |-> r.partitionEpoch,
     members |-> [m \in r.isr \union {f} |-> IF m = b THEN life[b] ELSE r.remotes[m].life]]

(* A follower's fetch where the logs agree: the leader notes how far the follower is, may ask for it
   in the ISR, may commit; the follower appends, and hears of the high watermark of before.  While a
   request of this process is in flight no other is sent, and the new proposal is dropped. *)
Served(b, f) ==
    LET noted == [role[b] EXCEPT !.remotes[f] = [end |-> log[f].end, life |-> life[f]]]
        joins == Joins(noted, f)
        request == Request(b, noted, f)
        busy == \E other \in requests : other.from = b /\ other.life = life[b]
        asking == IF joins /\ ~busy THEN [noted EXCEPT !.sent = {request}] ELSE noted
        after == IF log[f].end /= role[b].remotes[f].end THEN Advanced(asking, log[b]) ELSE asking
        longer == Extended(log[f], log[b])
        told == Min({role[b].hwm, longer.end})
    IN /\ requests' = IF joins /\ ~busy THEN requests \union {request} ELSE requests
       /\ log' = [log EXCEPT ![f] = longer]
       /\ role' = [role EXCEPT ![b] = after, ![f].hwm = told]
       /\ committed' = Committed(role[b].hwm, after, log[b])

(* Where the logs part, the follower keeps what both have, and the leader notes nothing. *)
Parted(f, cut) ==
    LET shorter == Truncated(log[f], cut)
    IN /\ log' = [log EXCEPT ![f] = shorter]
       /\ role' = IF shorter = log[f] THEN role
                  ELSE [role EXCEPT ![f].hwm = Min({@, shorter.end})]
       /\ UNCHANGED <<requests, committed>>

(* A fetch and its answer, in one step. *)
Fetch(f) ==
    /\ role[f].kind = "follower" /\ role[f].leader /= Nobody
    /\ LET b == role[f].leader
           epoch == LatestEpoch(log[f])
       IN /\ Leads(b) /\ role[b].epoch = role[f].epoch
          /\ IF epoch = -1 THEN Served(b, f)
             ELSE IF ~KnowsEpoch(log[b], epoch) THEN Parted(f, log[b].end)
             ELSE LET theirs == EndOfEpoch(log[b], epoch) IN
                  IF theirs.epoch >= epoch /\ theirs.at >= log[f].end THEN Served(b, f)
                  ELSE Parted(f, CutAt(log[f], theirs))
    /\ UNCHANGED <<controller, life, isrLives, budgets>>
    /\ Damage(committed', {})

(* Whether the newest metadata would change anything for a process. *)
HasNews(b) ==
    CASE role[b].kind = "down" -> FALSE
      [] role[b].kind = "follower" ->
            role[b].leader /= leader \/ role[b].epoch /= leaderEpoch
      [] role[b].kind = "leader" ->
            role[b].view /= Shown(b) \/ role[b].viewEpoch /= partitionEpoch

(* A process plays the partition as the newest metadata says.  `r` is what it made of it so far.
   Whoever takes over without what was committed has lost it, and its own records count from now. *)
Play(b, r) ==
    IF leader /= b
    THEN /\ role' = [role EXCEPT ![b] = Follower(leader, leaderEpoch, Min({r.hwm, log[b].end}))]
         /\ UNCHANGED <<log, committed>>
         /\ Damage(committed, {})
    ELSE LET noted == WithEpochStart(log[b], leaderEpoch)
             before == Leading(b, r, noted)
             after == Advanced(before, noted)
             takesOver == r.kind /= "leader" \/ r.epoch < leaderEpoch
             lost == takesOver /\ ~Holds(noted, committed)
             known == IF lost THEN committed ELSE Committed(before.hwm, after, noted)
         IN /\ log' = [log EXCEPT ![b] = noted]
            /\ role' = [role EXCEPT ![b] = after]
            /\ Damage(known, {})
            /\ committed' = IF lost THEN Prefix(noted, after.hwm) ELSE known

(* The newest metadata arrives; a leader looks at the partition only if its epoch is another. *)
View(b) ==
    /\ HasNews(b)
    /\ UNCHANGED <<controller, life, requests, isrLives, budgets>>
    /\ IF Leads(b) /\ role[b].viewEpoch = partitionEpoch
       THEN /\ role' = [role EXCEPT ![b].view = Shown(b)]
            /\ UNCHANGED log
            /\ NoDamage
       ELSE Play(b, role[b])

(* A process dies, and its disk is replaced.  What it has sent may still arrive. *)
Crash(b) ==
    /\ IsUp(b)
    /\ crashes > 0 /\ crashes' = crashes - 1
    /\ role' = [role EXCEPT ![b] = Down]
    /\ log' = [log EXCEPT ![b] = EmptyLog]
    /\ UNCHANGED <<controller, life, requests, isrLives, committed, writes, fences>>
    /\ Damage(committed, IF log[b].end > 0 THEN {b} ELSE {})

(* A new process starts, is registered, fenced, and reads the metadata up to its registration. *)
Start(b) ==
    /\ ~IsUp(b)
    /\ FencingFirst => b \in fenced
    /\ life' = [life EXCEPT ![b] = @ + 1]
    /\ fenced' = fenced \union {b}
    /\ UNCHANGED <<leader, leaderEpoch, partitionEpoch, isr, requests, isrLives, budgets>>
    /\ Play(b, Down)

----------------------------------------------------------------------------

Init ==
    /\ fenced = {} /\ leader = 1 /\ leaderEpoch = 1 /\ partitionEpoch = 1 /\ isr = InitialIsr
    /\ life = [b \in Brokers |-> 1]
    /\ log = [b \in Brokers |-> IF b = 1 THEN WithEpochStart(EmptyLog, 1) ELSE EmptyLog]
    /\ role = [b \in Brokers |-> IF b = 1 THEN Leading(1, Down, EmptyLog) ELSE Follower(1, 1, 0)]
    /\ requests = {}
    /\ committed = EmptyLog /\ isrLives = [m \in InitialIsr |-> 1]
    /\ damaged = {} /\ excused = FALSE
    /\ writes = Writes /\ crashes = Crashes /\ fences = Fences

Next ==
    \/ \E request \in requests : Deliver(request)
    \/ \E b \in Brokers : \/ Write(b) \/ Fetch(b) \/ View(b)
                          \/ Crash(b) \/ Start(b) \/ Fence(b) \/ Unfence(b)

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
(* What ought to hold, unless every member of the ISR was damaged. *)

(* Every replica that could be elected now has every committed record. *)
ElectableHoldsCommitted ==
    excused \/ \A m \in isr : m \in fenced \/ ~IsUp(m) \/ Holds(log[m], committed)

(* Whoever takes over has every record that was ever committed.  A loss is a step: from then on the
   new leader's records are those that count. *)
TakesOver(b) ==
    /\ leader = b
    /\ role'[b].kind = "leader"
    /\ role[b].kind /= "leader" \/ role[b].epoch < role'[b].epoch

NoCommittedRecordLost ==
    [][excused' \/ \A b \in Brokers : TakesOver(b) => Holds(log'[b], committed)]_vars

(* No member of the ISR is another process than the one that caught up; the last member stays. *)
NoStaleEpochInIsr == Cardinality(isr) = 1 \/ \A m \in isr : isrLives[m] = life[m]
=============================================================================

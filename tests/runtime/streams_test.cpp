#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <runtime/streams.hpp>

#include "stub_streams.hpp"

namespace {

using sinter::Device;
using sinter::runtime::CurrentStream;
using sinter::runtime::EventRef;
using sinter::runtime::StreamImpl;
using sinter::runtime::StreamRef;
using sinter::runtime::Streams;
using sinter::runtime::wait_for;
using sinter::testing::StubStreamCalls;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class StreamsOfADevice : public ::testing::Test {
 protected:
  StubStreamCalls calls_;
  Streams streams_{Device(0), calls_};
  int foreign_ = 0;  // its address is a handle
};

TEST_F(StreamsOfADevice, OwnOnesAreHandedOutAgain) {
  StreamImpl *first = nullptr, *second = nullptr;
  {
    const StreamRef a = streams_.create(), b = streams_.create();
    first = a.get(), second = b.get();
    EXPECT_NE(first, second);
  }
  calls_.taken();
  const StreamRef c = streams_.create(), d = streams_.create();
  EXPECT_THAT((std::set<StreamImpl*>{c.get(), d.get()}), ::testing::UnorderedElementsAre(first, second));
  EXPECT_THAT(calls_.taken(), IsEmpty());
}

TEST_F(StreamsOfADevice, ForeignOnesAreFoundByTheirHandle) {
  const StreamRef a = streams_.wrap(&foreign_);
  EXPECT_EQ(streams_.wrap(&foreign_), a);
  EXPECT_EQ(streams_.wrap(streams_.standard().native).get(), &streams_.standard());
  EXPECT_EQ(a->kind, StreamImpl::Kind::Foreign);
}

TEST_F(StreamsOfADevice, OfAForeignStreamThatIsGoneItsLastEventIsLeft) {
  StreamImpl& gone = *streams_.wrap(&foreign_);
  EXPECT_TRUE(streams_.is_retired(gone));
  calls_.taken();
  calls_.capturing = true;  // the handle is not asked
  EXPECT_FALSE(streams_.is_capturing(gone));
  calls_.capturing = false;
  wait_for(streams_.standard(), gone);
  EXPECT_THAT(calls_.taken(), ElementsAre("wait"));
  streams_.synchronize(gone);
  EXPECT_FALSE(streams_.is_idle(gone));
  EXPECT_THAT(calls_.taken(), ElementsAre("synchronize_event", "is_done"));
  streams_.synchronize();
  EXPECT_THAT(calls_.taken(), ElementsAre("synchronize", "synchronize_event"));
  const StreamRef again = streams_.wrap(&foreign_);
  EXPECT_EQ(again.get(), &gone);
  EXPECT_THAT(calls_.taken(), ElementsAre("wait"));  // perhaps it is another stream
  EXPECT_FALSE(streams_.is_retired(gone));
}

TEST_F(StreamsOfADevice, AForeignStreamWhoseEndCannotBeRecordedIsWaitedFor) {
  calls_.failing = {"record"};
  StreamImpl& gone = *streams_.wrap(&foreign_);
  EXPECT_THAT(calls_.taken(), ElementsAre("create_stream", "create_event", "record", "synchronize"));
  calls_.failing.clear();
  wait_for(streams_.standard(), gone);
  EXPECT_THAT(calls_.taken(), IsEmpty());
  EXPECT_TRUE(streams_.is_idle(gone));
}

TEST_F(StreamsOfADevice, EventsAreUsedAgainForThoseOfTheirKind) {
  streams_.record(streams_.standard());
  calls_.taken();
  const EventRef held = streams_.record(streams_.standard());
  EXPECT_THAT(calls_.taken(), ElementsAre("record"));
  streams_.record(streams_.standard());
  EXPECT_THAT(calls_.taken(), ElementsAre("create_event", "record"));
  streams_.record(streams_.standard(), true);
  EXPECT_THAT(calls_.taken(), ElementsAre("create_timed", "record"));
  streams_.record(streams_.standard(), true);
  EXPECT_THAT(calls_.taken(), ElementsAre("record"));
  calls_.failing = {"record"};
  EXPECT_THROW(streams_.record(streams_.standard()), sinter::CudaError);
  calls_.failing.clear();
  calls_.taken();
  streams_.record(streams_.standard());
  EXPECT_THAT(calls_.taken(), ElementsAre("record"));
}

TEST_F(StreamsOfADevice, WaitingForItselfIsNothing) {
  const StreamRef a = streams_.create();
  calls_.taken();
  wait_for(*a, *a);
  EXPECT_THAT(calls_.taken(), IsEmpty());
  wait_for(*a, streams_.standard());
  EXPECT_THAT(calls_.taken(), ElementsAre("create_event", "record", "wait"));
}

TEST_F(StreamsOfADevice, TheInnermostGuardOfADeviceCounts) {
  StubStreamCalls other_calls;
  Streams other(Device(1), other_calls);
  const StreamRef a = streams_.create(), b = streams_.create(), c = other.create();
  const CurrentStream on_a(a);
  {
    const CurrentStream on_b(b);
    const CurrentStream on_c(c);
    EXPECT_EQ(&streams_.current(), b.get());
    EXPECT_EQ(&other.current(), c.get());
  }
  EXPECT_EQ(&streams_.current(), a.get());
  EXPECT_EQ(&other.current(), &other.standard());
}

}  // namespace

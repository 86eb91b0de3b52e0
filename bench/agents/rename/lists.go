package main

// libraries are names that a language and its library give to every file, and
// those by which the library calls what a program declares, by language.
var libraries = func() map[string]map[string]bool {
	js := set(`Array Object Map Set WeakMap WeakSet Promise Error TypeError RangeError SyntaxError Symbol String Number
			Boolean BigInt Date RegExp Math JSON console process Buffer globalThis window document module exports
			require undefined NaN Infinity Reflect Proxy parseInt parseFloat isNaN setTimeout clearTimeout
			setInterval clearInterval setImmediate queueMicrotask fetch Response Request Headers URL URLSearchParams
			Uint8Array ArrayBuffer DataView Record Partial Readonly Pick Omit Exclude Extract Parameters ReturnType
			Awaited NonNullable constructor toString valueOf then catch finally prototype length arguments async
			await of as from get set static type infer keyof readonly unknown never any void string number boolean
			object symbol bigint default`)
	return map[string]map[string]bool{
		"go": set(`append cap clear close complex copy delete imag len make max min new panic print println real recover
			any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune
			string uint uint8 uint16 uint32 uint64 uintptr true false iota nil init main String Error Read Write
			Close Len Less Swap Unwrap ServeHTTP MarshalJSON UnmarshalJSON MarshalText UnmarshalText Format Seek
			Next Scan testing T B F M`),
		"python": set(`self cls print len range str int float bool bytes bytearray dict list set tuple frozenset object type
			super isinstance issubclass hasattr getattr setattr delattr callable enumerate zip map filter sorted
			reversed min max sum any all abs round open repr id hash iter next vars dir input format property
			staticmethod classmethod Exception BaseException ValueError TypeError KeyError IndexError AttributeError
			RuntimeError StopIteration StopAsyncIteration NotImplementedError OSError IOError ImportError
			AssertionError NotImplemented Ellipsis ord chr slice memoryview divmod pow exec eval compile globals
			locals args kwargs KeyboardInterrupt UnicodeDecodeError UnicodeEncodeError LookupError
			DeprecationWarning UserWarning RuntimeWarning Warning ConnectionError TimeoutError FileNotFoundError
			PermissionError`),
		"rust": set(`Vec Option Some None Result Ok Err String Box Rc Arc Self self Default Clone Copy Debug Display Eq
			PartialEq Ord PartialOrd Hash Iterator IntoIterator FromIterator Extend From Into TryFrom TryInto AsRef
			AsMut Deref DerefMut Drop Fn FnMut FnOnce Send Sync Sized Unpin ToString ToOwned HashMap HashSet
			BTreeMap BTreeSet Cow Pin Future Path PathBuf std core alloc derive cfg test allow deny inline must_use
			doc feature println print eprintln format write writeln panic assert assert_eq assert_ne debug_assert
			vec matches todo unimplemented unreachable macro_rules fmt new drop clone from into next poll deref
			default eq cmp partial_cmp hash main usize isize u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 bool
			char str expr ident ty tt pat stmt block item path literal vis`),
		"java": set(`String Object Integer Long Double Float Boolean Byte Short Character Number Math System Thread Runnable
			Exception RuntimeException IllegalArgumentException IllegalStateException NullPointerException
			IndexOutOfBoundsException UnsupportedOperationException ClassCastException Error Throwable Class
			Override Deprecated SuppressWarnings FunctionalInterface SafeVarargs Iterable Comparable CharSequence
			StringBuilder StringBuffer Enum Void Record AutoCloseable Cloneable toString equals hashCode compareTo
			close run get apply accept test iterator hasNext next main length size value valueOf values name ordinal
			getClass clone finalize`),
		"ruby": set(`require require_relative include extend prepend attr_reader attr_writer attr_accessor private protected
			public raise puts print p lambda proc loop catch throw initialize to_s to_a to_h to_i to_sym inspect
			each map call new class send respond_to? method_missing respond_to_missing? block_given? freeze dup nil?
			is_a? kind_of? String Array Hash Integer Float Symbol Object Class Module Proc Struct Exception
			StandardError ArgumentError RuntimeError NotImplementedError TypeError NameError NoMethodError KeyError
			IndexError IOError File Dir IO Time Process Thread Mutex Kernel Comparable Enumerable ENV ARGV STDIN
			STDOUT STDERR Set Regexp Range Rational Encoding Errno Signal ObjectSpace GC Fiber Ractor define_method
			alias_method module_function instance_variable_get instance_variable_set self super autoload respond_to`),
		"c": set(`size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t
			intptr_t FILE NULL EOF INT_MAX INT_MIN UINT_MAX LONG_MAX SIZE_MAX errno stdin stdout stderr main argc
			argv va_list va_start va_end va_arg bool true false assert offsetof inline restrict const static defined
			__FILE__ __LINE__ __func__ time_t pthread_t pthread_mutex_t off_t pid_t EINTR EAGAIN ENOMEM EINVAL
			ENOENT malloc calloc realloc free memcpy memmove memset memcmp strlen strcmp strncmp strcpy strncpy
			strchr strrchr strstr strdup snprintf sprintf printf fprintf fputs fgets fopen fclose fread fwrite exit
			abort atoi strtol strtoll strtod isdigit isspace isalpha tolower toupper qsort`),
		"javascript": js, "typescript": js, "tsx": js,
	}
}()

// staying are the words that no renaming touches.
var staying = set(`the and for are was were not but how who what when where which why does did has have had with from into
			onto that this these those they them their there then than its his her you your our can cannot could
			would should will shall may might must one two three some any all each every other another such only
			also just very after before while until again already about over under between without within been being
			itself more most less least much many few same own both either neither nor yet still even ever never
			always often once because since though although whether unless if else elif return returns returned true
			false null none nil undefined self super new delete get set has add remove let var const func function
			def class struct enum type interface trait impl mod module package import export public private
			protected static final void int uint str string bool boolean byte bytes char float double long short
			error errors exception throw throws try catch except finally raise assert test tests testing spec specs
			main init index lib src cmd pkg internal utils util docs example examples bench com org net www utf
			ascii base64 linux windows darwin unix posix todo fixme note see param params args arg kwargs default
			here out use used uses using make makes made like first last next previous first second non per via too
			now off down left right high low old long big small good bad empty full open close closed read write run
			start stop end begin call calls called wait count size length len max min sum avg value values key keys
			name names data`)

// realWords are what the words of a project become as far as they go, in an
// order that the seed decides; then words are made up.
const realWords = `acorn almond amber anchor anvil apple apron arrow aspen attic autumn badge bamboo barley barn basil
			basket beacon beaver beetle bellows birch biscuit blanket blossom bonnet boulder bramble brass breeze
			bridle bronze brook broom bucket buckle bugle bundle butter cabin cactus camel candle canoe canyon
			carpet carrot castle cedar cellar chalk cherry chestnut chimney chisel cider cinder clover cobble cocoa
			comet compass copper coral corner cottage cotton cradle crane cricket crimson crown crystal curtain
			cymbal daisy dapple dawn deer desert diamond dolphin donkey dragon drum dune eagle easel ebony echo
			elbow elder ember emerald fable falcon feather fence fennel fern ferry fiddle flannel flint flute forest
			fossil fountain fox frost furnace galaxy garden garlic garnet gazelle ginger glacier glove goblet goose
			granite grape gravel guitar hammock harbor harp harvest hazel heather hedge heron hickory hinge honey
			hornet indigo iris island ivory ivy jacket jasmine jewel juniper kayak kelp kennel kettle kite ladle
			lagoon lantern larch lark lattice laurel lavender ledge lemon lentil lilac lily linen lizard lobster
			locket lotus lumber magnet magpie mallet mango maple marble marigold market marsh mason meadow melon
			mercury mint mirror mitten moose moss mulberry mustard nectar needle nettle nickel nutmeg oasis oat
			ocean olive onion opal orchard orchid otter oyster paddle palace panther paprika parade parrot pasture
			peach pearl pebble pepper pewter pigeon pillow pine plaza plum pocket pond poppy prairie puddle pumpkin
			puppet quail quarry quartz quill quilt rabbit raft raisin raven reef ribbon ridge river robin rooster
			rosemary ruby rudder saddle saffron sail salmon sandal sapphire satchel scarf sequoia shadow shawl shell
			shovel silk silver sparrow spice spindle spruce squash stable starling stove straw sugar sunset swan
			tangerine tapestry teapot temple thicket thimble thistle thunder tiger timber tinsel topaz trellis trout
			trumpet tulip tundra turnip turtle umbrella valley vanilla velvet violet violin walnut walrus wagon
			willow windmill winter wolf wool wreath yarn zebra zephyr braid carve churn climb dangle drift fetch
			fold forge gather glide graze hoist juggle kindle knead knit lather leap linger mend mingle nibble nudge
			paint peel plant pluck polish pour press rinse roast roam scoop scrub sew shake sketch skim slice smooth
			sow sprinkle squeeze stitch stroll sweep swirl tangle taste thread tickle tiptoe toss trim tumble twirl
			wander weave whisk whistle wiggle yawn abbey adobe alcove alder alpine amulet antler apricot arbor armor
			ash atoll aurora avocado awning azure badger balcony ballad balsam banjo banner banquet barge baron
			barrel bay bazaar bean bear bee bell berry birdie bison blade blaze bloom blue boat bog bonfire book
			boot border bough bow bowl bread brick brine brush bud buffalo bulb bull buoy burrow bush button cake
			calf canal cap cape caramel cashew cave celery chair chamber chapel chariot cheese chess chick chili
			chime chip chorus cinnamon circus citrus clam clarinet clay cliff cloak cloud coast coat cocoon coffee
			coin collar colt comb condor cone cord cork corn cove cow crab cradlesong creek crest crow cub cup curry
			cypress dagger dairy dancer daffodil dam dill dock dome dove dragonfly drape dress dusk dust earth eel
			egg elk elm ermine fairy farm fawn fig fin finch fir fish fjord flag flame flask fleece flower foal fog
			foil forget fork fort fowl fruit fudge fur gale gate gem ghost giant giraffe glade glass glen glow gnome
			goat gold gong gorge gourd grain grass grove gull gum hail hare hat hawk hay heart hen herb hill hive
			holly hood hoof horn horse ice igloo inn iron isle jade jam jar jay jelly jug jungle kale keg kelpie
			kiln king kiwi knight koala ladder lake lamb lamp lane lava lawn leaf leather lime lion llama loaf loft
			log loom lynx manor mantle mast mat maze mill minnow mist moat mole monk moon moth mound mouse mud mule
			muslin navy nest nut oak oar oboe onyx orca organ oven owl ox pail palm pan pansy parsley path paw pea
			pear peat pelican penguin perch petal piano pie pier pike pit plain plank plate plover plow poet pony
			poplar pork porch pot prince prism prune pudding puffin quiver radish rail rain ram rapids rat ray reed
			rice ring roof root rope rose rug rye sage sand sash scone sea seal seed shade shed sheep ship shoe
			shore shrub skirt sky slate sled sloop snail snow soap sofa soil soup spear spoon spring spur stag star
			steam steel stem stew stone storm stream string suede summit sun surf swallow swamp sword syrup tart tea
			tent tide tile toad toast tower town trail tray tree tub tuna tusk urn vale vase veil vest vine vole
			wand wave wax weasel well whale wheat wheel wick wind wine wing wood worm wren yak yew yolk zinc`
